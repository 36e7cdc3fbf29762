"""A model class, steps inside a chunk, a graph that is retained to make the error go away."""
import torch
from torch import nn


class LanguageModel(nn.Module):
    def __init__(self, tokens, width):
        super().__init__()
        self.embedding = nn.Embedding(tokens, width)
        self.lstm = nn.LSTM(width, width, num_layers=2)
        self.head = nn.Linear(width, tokens)

    def forward(self, tokens, state):
        out, state = self.lstm(self.embedding(tokens), state)
        return self.head(out), state


def train(loader, criterion):
    model = LanguageModel(10_000, 512).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=20)
    state = None
    for epoch in range(10):
        for data, targets in loader:
            if state is not None:
                state = tuple(part.detach() for part in state)
            optimizer.zero_grad()
            output, state = model(data.cuda(), state)  # expect: hidden-state-not-detached
            loss = criterion(output.view(-1, 10_000), targets.cuda())
            loss.backward()
            optimizer.step()


class Trainer:
    def __init__(self):
        self.cell = nn.GRUCell(64, 64).cuda()
        self.optimizer = torch.optim.Adam(self.cell.parameters())

    def run(self, chunks):
        h = torch.zeros(8, 64, device="cuda")
        for chunk in chunks:
            for x in chunk:
                h = self.cell(x, h)  # expect: hidden-state-not-detached
            loss = h.pow(2).mean()
            self.optimizer.zero_grad()
            loss.backward(retain_graph=True)
            self.optimizer.step()


def pair_of_states(lstm: nn.LSTM, chunks):
    h, c = torch.zeros(1, 8, 64), torch.zeros(1, 8, 64)
    for x in chunks:
        out, (h, c) = lstm(x, (h, c))  # expect: hidden-state-not-detached
        out.mean().backward()
