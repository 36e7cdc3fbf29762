# "Why states = detach(states)?" Without it: https://github.com/yunjey/pytorch-tutorial/issues/90
import torch
from torch import nn


class RNNLM(nn.Module):
    def __init__(self, tokens, width, hidden, layers):
        super().__init__()
        self.embed = nn.Embedding(tokens, width)
        self.lstm = nn.LSTM(width, hidden, layers, batch_first=True)
        self.linear = nn.Linear(hidden, tokens)

    def forward(self, x, state):
        out, state = self.lstm(self.embed(x), state)
        return self.linear(out.reshape(-1, out.size(2))), state


model = RNNLM(10000, 128, 1024, 1).cuda()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.002)


def train(ids, seq_length, epochs):
    for _ in range(epochs):
        states = (torch.zeros(1, 20, 1024).cuda(), torch.zeros(1, 20, 1024).cuda())
        for i in range(0, ids.size(1) - seq_length, seq_length):
            inputs = ids[:, i : i + seq_length].cuda()
            targets = ids[:, i + 1 : i + 1 + seq_length].cuda()
            outputs, states = model(inputs, states)  # expect: hidden-state-not-detached
            loss = criterion(outputs, targets.reshape(-1))
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            optimizer.step()
