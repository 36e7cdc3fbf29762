import torch
from torch import nn

model = nn.Linear(128, 10).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)


def save(path):
    state = {name: value.cpu() for name, value in model.state_dict().items()}
    torch.save(state, path)


def restore(path):
    model.load_state_dict(torch.load(path))
