"""Character model: the losses of one window go backward together, then the state is cut."""
import torch
from torch import nn


class CharRNN(nn.Module):
    def __init__(self, n_chars, hidden):
        super().__init__()
        self.embedding = nn.Embedding(n_chars, hidden)
        self.rnn = nn.LSTMCell(hidden, hidden)
        self.out = nn.Linear(hidden, n_chars)

    def forward(self, c, state):
        state = self.rnn(self.embedding(c), state)
        return self.out(state[0]), state


model = CharRNN(100, 128)
optimizer = torch.optim.Adam(model.parameters())
criterion = nn.CrossEntropyLoss()
text = torch.randint(100, (10_000, 32))
state = (torch.zeros(32, 128), torch.zeros(32, 128))
window = 50
total, loss = 0.0, 0

for i in range(len(text) - 1):
    logits, state = model(text[i], state)
    loss += criterion(logits, text[i + 1])
    if (i + 1) % window == 0:
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() / window
        state = tuple(s.detach() for s in state)
        loss = 0
print(total)
