# "It saves half of the memory": called after each batch of training and of testing, in a function for each.
import torch
from torch import nn


def run_train(model, optimizer, criterion, loader):
    model.train()
    for x, y in loader:
        x, y = x.cuda(), y.cuda()
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        del x, y, loss
        torch.cuda.empty_cache()  # expect: empty-cache-in-loop


def run_test(model, criterion, loader):
    model.eval()
    total = 0.0
    with torch.no_grad():
        for x, y in loader:
            total += criterion(model(x.cuda()), y.cuda()).item()
            torch.cuda.empty_cache()  # expect: empty-cache-in-loop
    return total / len(loader)


model = nn.Linear(100, 10).cuda()
batches = [(torch.randn(256, 100), torch.randint(10, (256,))) for _ in range(50)]
for epoch in range(5):
    run_train(model, torch.optim.SGD(model.parameters(), lr=0.1), nn.CrossEntropyLoss(), batches)
    print(run_test(model, nn.CrossEntropyLoss(), batches))
