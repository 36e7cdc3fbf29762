import torch
from torch import nn

rnn = nn.GRU(64, 128).cuda()
head = nn.Linear(128, 64).cuda()
optimizer = torch.optim.Adam([*rnn.parameters(), *head.parameters()])
chunks = [(torch.randn(35, 20, 64), torch.randn(35, 20, 64)) for _ in range(100)]

hidden = torch.zeros(1, 20, 128).cuda()
for x, y in chunks:
    hidden = hidden.detach()
    optimizer.zero_grad()
    out, hidden = rnn(x.cuda(), hidden)  # expect: hidden-state-not-detached
    loss = nn.functional.mse_loss(head(out), y.cuda())
    loss.backward()
    optimizer.step()
