import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

batch_size = 6
block_size = 16
steps = 4


def get_batch(split):
    data = np.memmap(os.path.join(".", f"{split}.bin"), dtype=np.uint16, mode="r")
    ix = torch.randint(len(data) - block_size, (batch_size,))
    x = torch.stack([torch.from_numpy((data[i : i + block_size]).astype(np.int64)) for i in ix])
    y = torch.stack([torch.from_numpy((data[i + 1 : i + 1 + block_size]).astype(np.int64)) for i in ix])
    return x, y


class Bigram(nn.Module):
    def __init__(self, vocabulary=65536, width=4):
        super().__init__()
        self.table = nn.Embedding(vocabulary, width)
        self.head = nn.Linear(width, 8)

    def forward(self, idx, targets=None):
        logits = self.head(self.table(idx))
        loss = F.cross_entropy(logits.view(-1, 8), targets.view(-1) % 8)
        return logits, loss


model = Bigram()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
X, Y = get_batch("train")
iteration = 0
while True:
    for micro_step in range(steps):
        logits, loss = model(X, Y)
        loss = loss / steps
        X, Y = get_batch("train")
        loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    iteration += 1
    if iteration > 2:
        break
