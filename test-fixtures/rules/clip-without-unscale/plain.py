import torch
from torch import nn

model = nn.LSTM(128, 128).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cuda")
loader = [torch.randn(16, 8, 128) for _ in range(100)]

for x in loader:
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = model(x.cuda())[0].pow(2).mean()
    scaler.scale(loss).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # expect: clip-without-unscale
    scaler.step(optimizer)
    scaler.update()
