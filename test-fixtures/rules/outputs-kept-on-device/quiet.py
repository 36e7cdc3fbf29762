"""In host memory, small, or not joined from all batches."""
from collections import deque

import torch
from torch import nn
from torchvision.models import resnet18, resnet50

model = resnet50().cuda().eval()
small = resnet18(num_classes=10).cuda().eval()
head = nn.Sequential(nn.Flatten(), nn.Linear(3072, 1)).cuda()


@torch.no_grad()
def moved(loader):
    first, second, third = [], [], []
    for images in loader:
        out = model(images.cuda())
        first.append(out.cpu())
        second.append(out.detach().to("cpu"))
        third.append(torch.from_numpy(out.cpu().numpy()))
    return torch.cat(first), torch.cat(second), torch.cat(third)


@torch.no_grad()
def numbers(loader):
    classes, scores, losses, columns, few, single = [], [], [], [], [], []
    for images, labels in loader:
        out = model(images.cuda())
        classes.append(out.argmax(dim=1))
        scores.append(out.max(dim=1)[0])
        losses.append(nn.functional.cross_entropy(out, labels.cuda(), reduction="none"))
        columns.append(out[:, 1])
        few.append(small(images.cuda()))
        single.append(head(images.cuda()))
    return [torch.cat(part) for part in (classes, scores, losses, columns)], torch.cat(few), torch.cat(single)


@torch.no_grad()
def bounded(loader):
    recent = deque(maxlen=10)
    for images in loader:
        views = []
        for view in images:
            views.append(model(view.cuda()))
        merged = torch.stack(views)
        yield merged.mean(0)


@torch.no_grad()
def emptied(loader, sink):
    chunk = []
    for images in loader:
        chunk.append(model(images.cuda()))
        if len(chunk) == 10:
            sink(torch.cat(chunk).cpu())
            chunk = []
    return torch.cat(chunk)


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(512, 512)
        self.second = nn.Linear(512, 1)

    def forward(self, x):
        return self.second(self.first(x).relu()).view(-1)


class Rating(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(512, 512)
        self.decoder = Decoder()

    def forward(self, x):
        return self.decoder(self.encoder(x))


rating = Rating().cuda()


@torch.no_grad()
def ratings(loader):
    predictions = []
    for x in loader:
        predictions.append(rating(x.cuda()).clamp(min=0, max=5))
    return torch.cat(predictions)


@torch.no_grad()
def score_of(language_model, batches):
    language_model.eval()
    losses = []
    for inputs, targets in batches:
        losses.append(language_model(inputs.cuda(), targets.cuda()).float())
    return torch.stack(losses).mean().item()
