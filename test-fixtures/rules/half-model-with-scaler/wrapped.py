"""Cast inside a chain, wrapped, handed to helpers."""
import torch
import torchvision
from torch.nn.parallel import DistributedDataParallel as DDP

half = torch.float16


def epoch(model, loader, optimizer, scaler):
    for x, y in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x.to(half)), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()


def main(loader, gpu):
    net = DDP(torchvision.models.resnet18().to(gpu, dtype=half))  # expect: half-model-with-scaler
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda")
    for _ in range(10):
        epoch(net, loader, optimizer, scaler)
