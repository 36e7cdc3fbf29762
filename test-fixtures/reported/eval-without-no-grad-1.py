# Validation of a segmentation network: "out of memory during validation, training works fine".
import torch
from torch import nn


def validate(val_loader, model, criterion):
    loss_sum = 0.0
    model.eval()
    for i, (input, target) in enumerate(val_loader):
        input = input.cuda(non_blocking=True)
        target = target.cuda(non_blocking=True)
        output = model(input)  # expect: eval-without-no-grad
        loss = criterion(output, target)
        loss_sum += loss.item() * input.size(0)
        if i % 10 == 0:
            print(f"test {i}/{len(val_loader)} loss {loss.item():.4f}")
    return loss_sum


def main():
    model = nn.Sequential(nn.Conv2d(3, 64, 3, padding=1), nn.ReLU(), nn.Conv2d(64, 19, 1)).cuda()
    criterion = nn.CrossEntropyLoss(ignore_index=255)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = [(torch.rand(2, 3, 473, 473), torch.randint(19, (2, 473, 473))) for _ in range(20)]
    for epoch in range(10):
        model.train()
        for input, target in loader:
            loss = criterion(model(input.cuda()), target.cuda())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        validate(loader, model, criterion)


main()
