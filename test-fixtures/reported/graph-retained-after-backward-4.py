# Accuracy and loss of the attention experiment are summed as tensors; the accuracy has no graph.
import torch
from torch import nn

model = nn.TransformerEncoder(nn.TransformerEncoderLayer(64, 4, 128, batch_first=True), 2)
head = nn.Linear(64, 1)
params = list(model.parameters()) + list(head.parameters())
optimizer = torch.optim.Adam(params, lr=1e-4)
loader_train = [(torch.randn(16, 10, 64), torch.rand(16, 1).round()) for _ in range(100)]

for epoch in range(10):
    e_train = 0.0
    a_train = 0.0
    for xs, ys in loader_train:
        ls = head(model(xs).mean(dim=1))
        e_batch = nn.functional.binary_cross_entropy_with_logits(ls, ys)
        a_batch = ((ls > 0).float() == ys).float().mean()
        optimizer.zero_grad()
        e_batch.backward()
        optimizer.step()
        e_train += e_batch / len(loader_train)  # expect: graph-retained-after-backward
        a_train += a_batch / len(loader_train)
    print(epoch, float(e_train), float(a_train))
