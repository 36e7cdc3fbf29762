import torch
from torch import nn

bptt = 35


def batchify(data, size):
    rows = data.size(0) // size
    return data[: rows * size].view(size, rows).t().contiguous()


def get_batch(source, i):
    length = min(bptt, len(source) - 1 - i)
    return source[i : i + length], source[i + 1 : i + 1 + length].reshape(-1)


train_data = batchify(torch.randint(0, 100, (20000,)), 20)
model = nn.Embedding(100, 16)
optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
for epoch in range(1):
    for batch, i in enumerate(range(0, train_data.size(0) - 1, bptt)):
        tokens, targets = get_batch(train_data, i)
        loss = model(tokens).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
