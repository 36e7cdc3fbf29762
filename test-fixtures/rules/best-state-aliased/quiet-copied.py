import copy
from copy import deepcopy

import torch

model = torch.nn.Linear(4, 4)
target = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
best = float("inf")
checkpoint = torch.load("last.pt", map_location="cpu")
model.load_state_dict(checkpoint["model"])
before = copy.deepcopy(model.state_dict())
last = None

for step in range(100):
    optimizer.zero_grad()
    loss = model(torch.randn(2, 4)).pow(2).mean()
    loss.backward()
    optimizer.step()
    last = model.state_dict()
    if loss.item() < best:
        best = loss.item()
        first = deepcopy(model.state_dict())
        second = {k: v.clone() for k, v in model.state_dict().items()}
        third = {k: v.cpu() for k, v in model.state_dict().items()}
        fourth = model.state_dict()
        fourth = {k: v.clone() for k, v in fourth.items()}
        fifth = model.state_dict()
        torch.save(fifth, "best.pt")
        if step > 0:
            checkpoint = {"model": model.state_dict(), "best": best}
            torch.save(checkpoint, "last.pt")
    if step % 10 == 0:
        target.load_state_dict(model.state_dict())
        soft = target.state_dict()
        for key, value in model.state_dict().items():
            soft[key] = 0.9 * soft[key] + 0.1 * value
        target.load_state_dict(soft)
    if best < 1e-3:
        final = model.state_dict()
        break

torch.save([first, second, third, fourth, last, final], "states.pt")
model.load_state_dict(before)
