import torch
from torch import nn
from utils import adjust_learning_rate, advance, clear, finish, keep

model = nn.Linear(4, 1).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.MSELoss()

for epoch in range(90):
    for step, (x, y) in enumerate(train_loader):
        adjust_learning_rate(optimizer, epoch, 0.1)
        loss = criterion(model(x.cuda()), y.cuda())
        loss.backward()
        optimizer.step()  # expect: missing-zero-grad
        keep(model, optimizer, "last.pt")

for x, y in train_loader:
    clear(optimizer)
    criterion(model(x.cuda()), y.cuda()).backward()
    optimizer.step()

for x, y in train_loader:
    advance(optimizer, criterion(model(x.cuda()), y.cuda()))

for x, y in train_loader:
    criterion(model(x.cuda()), y.cuda()).backward()
    finish(optimizer)

for step, (x, y) in enumerate(train_loader):
    loss = criterion(model(x.cuda()), y.cuda())
    loss.backward()  # expect: accumulation-loss-not-scaled
    if (step + 1) % 4 == 0:  # expect: accumulation-last-group
        optimizer.step()
        optimizer.zero_grad()
        keep(model, optimizer, "last.pt")
