# Everything but the reset runs each time; the scaler comes in as a parameter.
import torch
from torch import nn


def train(model, optimizer, scaler, loader, accum_steps):
    for idx, (x, y) in enumerate(loader):
        with torch.autocast("cuda", dtype=torch.float16):
            loss = nn.functional.mse_loss(model(x), y)
        loss = loss / accum_steps
        scaler.scale(loss).backward()
        scaler.step(optimizer)  # expect: scaler-step-per-microbatch
        scaler.update()
        if (idx + 1) % accum_steps == 0:
            optimizer.zero_grad()


def main():
    model = nn.Linear(16, 1).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    scaler = torch.amp.GradScaler()
    data = [(torch.randn(8, 16).cuda(), torch.randn(8, 1).cuda()) for _ in range(96)]
    train(model, optimizer, scaler, data, 4)


main()
