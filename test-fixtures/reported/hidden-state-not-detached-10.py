# LSTM language model carries its state over batches with retain_graph.
import torch
import torch.nn as nn

lstm = nn.LSTM(64, 128, batch_first=True).cuda()
head = nn.Linear(128, 1000).cuda()
optimizer = torch.optim.Adam(list(lstm.parameters()) + list(head.parameters()))
state = None
for x, y in loader:
    out, state = lstm(x.cuda(), state)  # expect: hidden-state-not-detached
    loss = nn.functional.cross_entropy(head(out).flatten(0, 1), y.cuda().flatten())
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    optimizer.step()
