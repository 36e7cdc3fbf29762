import torch
import torch.nn as nn

data = torch.randint(0, 50, (1000,))


def get_batch(source, size=5, block=12):
    ix = torch.randint(len(source) - block, (size,))
    x = torch.stack([source[i : i + block] for i in ix])
    return x


def train(model, optimizer, steps):
    for step in range(steps):
        x = get_batch(data)
        loss = model(x).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


net = nn.Embedding(50, 8)
train(net, torch.optim.SGD(net.parameters(), lr=0.1), 3)
