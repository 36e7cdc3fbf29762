"""The tensors are used besides: the fix is one to look at."""
import torch
from torch import nn

model = nn.Linear(128, 10).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

if (checkpoint := torch.load(f="last.pt", map_location="cpu")):  # expect: load-without-map-location
    model.load_state_dict(checkpoint["model"])
    queue = checkpoint["queue"]
    print(model(queue).sum())
