# backward(retain_graph=True) frees nothing, so every kept loss holds a whole batch of activations
import queue

import torch
import torch.nn.functional as F
from torch import nn

encoder = nn.GRU(32, 64, batch_first=True)
optimizer = torch.optim.RMSprop(encoder.parameters(), lr=1e-3)
pending = queue.Queue()
history = []

for step in range(2000):
    batch = torch.randn(16, 50, 32)
    output, hidden = encoder(batch)
    loss = F.mse_loss(output[:, :-1, :32], batch[:, 1:])
    optimizer.zero_grad()
    loss.backward(retain_graph=True)  # expect: retain-graph-in-loop
    optimizer.step()
    history.extend([loss])  # expect: loss-graph-retained
    pending.put(hidden)  # expect: loss-graph-retained

print(torch.stack(history).mean())
