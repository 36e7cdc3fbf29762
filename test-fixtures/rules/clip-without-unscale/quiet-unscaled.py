import torch
from torch import nn

model = nn.Linear(128, 10).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cuda")
off = torch.amp.GradScaler("cuda", enabled=False)
loader = [torch.randn(16, 128) for _ in range(100)]
use_amp = True
clip = 1.0


def clip_gradients():
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)


for x in loader:
    optimizer.zero_grad()
    scaler.scale(model(x.cuda()).mean()).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()

for x in loader:
    optimizer.zero_grad()
    scaler.scale(model(x.cuda()).mean()).backward()
    clip_gradients()
    scaler.step(optimizer)
    scaler.update()

for x in loader:
    optimizer.zero_grad()
    if use_amp:
        scaler.scale(model(x.cuda()).mean()).backward()
    else:
        model(x.cuda()).mean().backward()
    if not use_amp and clip:
        pass
    if not use_amp:
        nn.utils.clip_grad_norm_(model.parameters(), clip)
    if use_amp:
        scaler.step(optimizer)
        scaler.update()
    else:
        optimizer.step()

for x in loader:
    optimizer.zero_grad()
    off.scale(model(x.cuda()).mean()).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    off.step(optimizer)
    off.update()

for x in loader:
    optimizer.zero_grad()
    model(x.cuda()).mean().backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
