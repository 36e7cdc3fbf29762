import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

HIDDEN, VOCAB, LENGTH = 24, 50, 7


class Pairs(Dataset):
    def __len__(self):
        return 24

    def __getitem__(self, index):
        return torch.randint(0, VOCAB, (LENGTH,)), torch.randint(0, VOCAB, (LENGTH,))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, HIDDEN)
        self.project = nn.Linear(HIDDEN, HIDDEN)

    def forward(self, tokens):
        return torch.tanh(self.project(self.embedding(tokens)))


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, HIDDEN)
        self.cell = nn.GRUCell(HIDDEN, HIDDEN)
        self.out = nn.Linear(HIDDEN, VOCAB)

    def forward(self, memory, target):
        hidden = memory.mean(1)
        outputs = []
        for t in range(target.size(1)):
            hidden = self.cell(self.embedding(target[:, t]), hidden)
            outputs.append(self.out(hidden))
        return torch.stack(outputs, dim=1)


encoder, decoder = Encoder(), Decoder()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(list(encoder.parameters()) + list(decoder.parameters()), lr=1e-3)

for epoch in range(1):
    for source, target in DataLoader(Pairs(), batch_size=4):
        optimizer.zero_grad()
        memory = encoder(source)
        logits = decoder(memory, target)
        loss = criterion(logits.view(-1, VOCAB), target.view(-1))
        loss.backward()
        optimizer.step()
