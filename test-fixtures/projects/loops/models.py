from torch import nn


class Corrector(nn.Module):
    def __init__(self):
        super().__init__()
        self.detector = nn.GRU(16, 8, batch_first=True)
        self.head = nn.Linear(8, 16)

    def forward(self, x):
        hidden, _ = self.detector(x)
        return self.head(hidden)
