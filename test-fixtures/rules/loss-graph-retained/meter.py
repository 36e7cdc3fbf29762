import torch
import torch.nn as nn
from torch.utils.data import DataLoader


class AverageMeter(object):
    """Computes and stores the average and current value"""

    def __init__(self, name):
        self.name = name
        self.reset()

    def reset(self):
        self.val = 0
        self.sum = 0
        self.count = 0

    def update(self, val, n=1):
        self.val = val
        self.sum += val * n
        self.count += n

    @property
    def avg(self):
        return self.sum / self.count


def train(loader, model, criterion, optimizer, device):
    losses = AverageMeter("Loss")
    model.train()
    for i, (images, target) in enumerate(loader):
        images, target = images.to(device), target.to(device)
        output = model(images)
        loss = criterion(output, target)
        losses.update(loss.item(), images.size(0))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return losses.avg


def validate(loader, model, criterion, device):
    losses = AverageMeter("Loss")
    model.eval()
    for i, (images, target) in enumerate(loader):
        images, target = images.to(device), target.to(device)
        output = model(images)  # expect: eval-without-no-grad
        loss = criterion(output, target)
        losses.update(loss, images.size(0))  # expect: loss-graph-retained
    print(f"validation: {losses.avg:.4f}")


def main():
    device = torch.device("cuda")
    model = nn.Sequential(nn.Conv2d(3, 32, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10)).to(device)
    data = [(torch.randn(3, 32, 32), i % 10) for i in range(512)]
    loader = DataLoader(data, batch_size=32, shuffle=True)
    criterion = nn.CrossEntropyLoss().to(device)
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
    for epoch in range(3):
        train(loader, model, criterion, optimizer, device)
        validate(loader, model, criterion, device)


if __name__ == "__main__":
    main()
