import torch
from torch import nn

model = nn.Linear(128, 10).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
loader = [(torch.randn(32, 128), torch.randint(10, (32,))) for _ in range(100)]

for x, y in loader:
    optimizer.zero_grad()
    with torch.autocast("cuda"):
        loss = nn.functional.cross_entropy(model(x.cuda()), y.cuda())
        with torch.autocast("cuda", enabled=False):
            inputs = x.cuda().requires_grad_()
            (gradient,) = torch.autograd.grad(model(inputs).sum(), inputs, create_graph=True)
        loss = loss + gradient.norm()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()

for x, y in loader:
    optimizer.zero_grad()
    with torch.autocast("cuda", enabled=False):
        loss = nn.functional.cross_entropy(model(x.cuda()), y.cuda())
        loss.backward()
    optimizer.step()

for x, y in loader:
    optimizer.zero_grad()
    with torch.autocast("cuda"):
        penalty = torch.autograd.grad(model(x.cuda()).sum(), model.weight, create_graph=True)[0].norm()
    penalty.backward()
    optimizer.step()


def penalty_step(x):
    with torch.autocast("cuda"):

        def closure():
            optimizer.zero_grad()
            value = model(x).sum()
            value.backward()
            return value

    optimizer.step(closure)
