import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
model = nn.Linear(128, 10)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
model.load_state_dict(torch.load("last.pt"))
if parser.parse_args().device == "cuda":
    print("not here")
for _ in range(10):
    optimizer.zero_grad()
    model(torch.randn(4, 128)).sum().backward()
    optimizer.step()
