# "Each iteration will generate the entire graph again: so I can get rid of it?" Yes.
# https://github.com/EagleW/Writing-editing-Network/issues/3
import torch
from torch import nn


class Writer(nn.Module):
    def __init__(self, tokens=8000, width=512):
        super().__init__()
        self.embedding = nn.Embedding(tokens, width)
        self.encoder = nn.GRU(width, width, batch_first=True)
        self.out = nn.Linear(width, tokens)

    def forward(self, source):
        outputs, _ = self.encoder(self.embedding(source))
        return self.out(outputs)


model = Writer().cuda()
criterion = nn.CrossEntropyLoss(ignore_index=0)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)


def train_batch(source, target):
    optimizer.zero_grad()
    lm_loss = 0
    for _ in range(2):
        logits = model(source)
        lm_loss = criterion(logits.view(-1, 8000), target.view(-1))
        lm_loss.backward(retain_graph=True)  # expect: retain-graph-in-loop
    optimizer.step()
    return lm_loss.item()
