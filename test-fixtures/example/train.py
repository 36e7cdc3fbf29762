"""Trains a small ResNet on the 200 classes of Tiny ImageNet."""
# vram: device=8GiB, budget=6.5GiB, batch=256, input=float32[B,3,64,64], target=int64[B]<200
# vram: model=ResNet(classes=200), optimizer=adamw, precision=fp32
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader
from torchvision import datasets, transforms


class Block(nn.Module):
    def __init__(self, channels, out_channels, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, out_channels, 3, stride, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(out_channels)
        self.conv2 = nn.Conv2d(out_channels, out_channels, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(out_channels)
        self.shortcut = nn.Conv2d(channels, out_channels, 1, stride, bias=False)

    def forward(self, x):
        out = F.relu(self.norm1(self.conv1(x)))
        out = self.norm2(self.conv2(out))
        return F.relu(out + self.shortcut(x))


class ResNet(nn.Module):
    def __init__(self, classes, width=64):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(width)
        blocks = []
        channels = width
        for out_channels, stride in [(64, 1), (128, 2), (256, 2), (512, 2)]:
            blocks += [Block(channels, out_channels, stride), Block(out_channels, out_channels, 1)]
            channels = out_channels
        self.blocks = nn.Sequential(*blocks)
        self.head = nn.Linear(channels, classes)

    def forward(self, x):
        x = F.relu(self.norm(self.stem(x)))
        x = self.blocks(x)
        return self.head(x.mean(dim=(2, 3)))


def train_epoch(model, loader, optimizer, device):
    model.train()
    losses = []
    for images, labels in loader:
        images, labels = images.to(device), labels.to(device)
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss)
        torch.cuda.empty_cache()
    print(f"training loss {sum(losses) / len(losses):.3f}")


def evaluate(model, loader, device):
    model.eval()
    total_loss, correct = 0.0, 0
    for images, labels in loader:
        images, labels = images.to(device), labels.to(device)
        logits = model(images)
        total_loss += F.cross_entropy(logits, labels)
        correct += (logits.argmax(dim=1) == labels).sum().item()
    print(f"validation loss {total_loss / len(loader):.3f}, accuracy {correct / len(loader.dataset):.3f}")


def main():
    device = torch.device("cuda")
    train_set = datasets.ImageFolder("tiny-imagenet/train", transforms.ToTensor())
    val_set = datasets.ImageFolder("tiny-imagenet/val", transforms.ToTensor())
    train_loader = DataLoader(train_set, batch_size=256, shuffle=True, num_workers=8)
    val_loader = DataLoader(val_set, batch_size=256, num_workers=8)
    model = ResNet(classes=200).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for epoch in range(30):
        train_epoch(model, train_loader, optimizer, device)
        evaluate(model, val_loader, device)


if __name__ == "__main__":
    main()
