# From apex to torch.amp: unscaling and clipping stayed in every iteration.
import torch
from torch import nn

accumulation = 8
model = nn.LSTM(40, 256, batch_first=True).cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cuda")
loader = torch.utils.data.DataLoader(torch.randn(4096, 50, 40), batch_size=8, drop_last=True)

for step, x in enumerate(loader):
    with torch.autocast("cuda", dtype=torch.float16):
        out, _ = model(x.cuda())
        loss = out.pow(2).mean() / accumulation
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)  # expect: scaler-step-per-microbatch
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    if (step + 1) % accumulation == 0:
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
