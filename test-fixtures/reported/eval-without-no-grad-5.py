# "out of memory" after each epoch's validation: https://github.com/hszhao/semseg/issues/60
import time

import torch
from torch import nn


def validate(val_loader, model, criterion):
    model.eval()
    total, end = 0.0, time.time()
    for i, (image, target) in enumerate(val_loader):
        image = image.cuda(non_blocking=True)
        target = target.cuda(non_blocking=True)
        output = model(image)  # expect: eval-without-no-grad
        loss = criterion(output, target)
        output = output.max(1)[1]
        total += loss.item()
        print(i, (output == target).float().mean().item())
    return total, time.time() - end


def main(loader, val_loader, epochs):
    model = nn.DataParallel(nn.Conv2d(3, 19, 3, padding=1).cuda())
    criterion = nn.CrossEntropyLoss(ignore_index=255)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(epochs):
        model.train()
        for image, target in loader:
            loss = criterion(model(image.cuda()), target.cuda())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        validate(val_loader, model, criterion)
