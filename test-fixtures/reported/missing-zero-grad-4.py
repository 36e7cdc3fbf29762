# zero_grad stands before the loop over the batches: "at the beginning of each epoch instead of each iteration".
import torch
from torch import nn
from tqdm import trange

net = nn.GRU(16, 32, batch_first=True)
out = nn.Linear(32, 1)
optimizer = torch.optim.RMSprop(list(net.parameters()) + list(out.parameters()))
sequences = torch.randn(64, 8, 20, 16)
targets = torch.randn(64, 8, 1)

for epoch in trange(10):
    optimizer.zero_grad()
    for x, y in zip(sequences, targets):
        h, _ = net(x)
        loss = nn.functional.mse_loss(out(h[:, -1]), y)
        loss.backward()
        optimizer.step()  # expect: missing-zero-grad
