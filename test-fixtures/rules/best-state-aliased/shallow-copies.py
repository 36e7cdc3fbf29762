"""A dictionary of its own, the same tensors."""
import copy

import torch

model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
best = float("inf")
step = 0
snapshots = []

initial = model.state_dict()  # expect: best-state-aliased
while step < 100:
    optimizer.zero_grad()
    loss = model(torch.randn(2, 4)).pow(2).mean()
    loss.backward()
    optimizer.step()
    step += 1
    if loss.item() < best:
        best = loss.item()
        first = copy.copy(model.state_dict())  # expect: best-state-aliased
        second = {k: v.detach() for k, v in model.state_dict().items()}  # expect: best-state-aliased
    if step % 10 == 0:
        snapshots.append(model.state_dict())  # expect: best-state-aliased

torch.save({"first": first, "second": second, "all": snapshots}, "states.pt")
model.load_state_dict(initial)
