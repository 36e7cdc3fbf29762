# A condition that is the same for every batch is none.
import torch
from torch import nn

device = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Linear(32, 4).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    for x in torch.randn(200, 16, 32).to(device):
        optimizer.zero_grad()
        model(x).pow(2).mean().backward()
        optimizer.step()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()  # expect: empty-cache-in-loop
