# Validation losses in a dictionary of lists, "to plot them later".
import matplotlib.pyplot as plt
import torch
from torch import nn
from torch.utils.data import DataLoader

net = nn.Sequential(nn.Conv1d(1, 32, 7), nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(32, 2)).cuda()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(net.parameters())
dataset = [(torch.randn(1, 500), i % 2) for i in range(2000)]
trainloader = DataLoader(dataset, batch_size=32, shuffle=True)
valloader = DataLoader(dataset[:400], batch_size=32)
curves = {"train": [], "val": []}

for epoch in range(10):
    net.train()
    for signal, label in trainloader:
        optimizer.zero_grad()
        loss = criterion(net(signal.cuda()), label.cuda())
        loss.backward()
        optimizer.step()
        curves["train"].append(loss.item())
    net.eval()
    for signal, label in valloader:
        loss = criterion(net(signal.cuda()), label.cuda())  # expect: eval-without-no-grad
        curves["val"].append(loss)  # expect: loss-graph-retained

plt.plot(curves["train"])
plt.plot([value.item() for value in curves["val"]])
plt.savefig("curves.png")
