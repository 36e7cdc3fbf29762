# Two models are compared once an epoch: a list of two outputs, made anew each time, is no pile of batches.
import matplotlib.pyplot as plt
import torch
from torch import nn

plain = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 1))
normalised = nn.Sequential(nn.Linear(1, 32), nn.BatchNorm1d(32), nn.Tanh(), nn.Linear(32, 1))
nets = [plain, normalised]
opts = [torch.optim.Adam(net.parameters(), lr=0.03) for net in nets]
x = torch.linspace(-7, 10, 2000).unsqueeze(1)
y = x.square() - 5

for epoch in range(12):
    outputs = []
    for net in nets:
        net.eval()
        outputs.append(net(x))  # expect: eval-without-no-grad
        net.train()
    plt.clf()
    for output in outputs:
        plt.plot(x.squeeze(1).numpy(), output.detach().squeeze(1).numpy())
    plt.pause(0.01)

    for batch, target in zip(x.split(64), y.split(64)):
        for net, opt in zip(nets, opts):
            loss = nn.functional.mse_loss(net(batch), target)
            opt.zero_grad()
            loss.backward()
            opt.step()
