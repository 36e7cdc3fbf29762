# Form of https://github.com/silvandeleemput/memcnn/issues/57: "is it necessary that the backward() is under autocast?"
import torch
from torch import nn
from torch.amp import GradScaler, autocast

model = nn.Sequential(nn.Conv3d(1, 8, 3, padding=1), nn.InstanceNorm3d(8), nn.ReLU(), nn.Conv3d(8, 1, 1)).cuda()
optim = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = GradScaler("cuda")

for volume, target in volumes:
    optim.zero_grad()
    with autocast("cuda"):
        output = model(volume.cuda())
        loss = nn.functional.mse_loss(output, target.cuda())
        scaler.scale(loss).backward()  # expect: backward-in-autocast
    scaler.step(optim)
    scaler.update()
