import torch
from torch import nn
from torch.amp import GradScaler, autocast
from torch.nn.parallel import DistributedDataParallel as DDP


def run(rank, dataset, epochs=3):
    model = DDP(nn.Sequential(nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)).to(rank), device_ids=[rank])
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = GradScaler("cuda")
    for epoch in range(epochs):
        for i, (x, y) in enumerate(zip(dataset.inputs, dataset.labels), start=1):
            with autocast("cuda"):
                loss = criterion(model(x.to(rank)), y.to(rank))
            scaler.scale(loss).backward()
            scaler.step(optimizer)  # expect: missing-zero-grad
            scaler.update()
            if i % 10 == 0 and rank == 0:
                print(epoch, i, loss.item())
