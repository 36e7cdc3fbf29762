import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader


class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.rnn = nn.GRU(width, width, batch_first=True)

    def forward(self, x):
        return self.rnn(x)[1]


class Decoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.rnn = nn.GRU(width, width, batch_first=True)

    def forward(self, y, h):
        return self.rnn(y, h)[0]


def evaluate(encoder, decoder, loader, criterion):
    encoder.eval()
    decoder.eval()
    total = 0.0
    for source, target in loader:
        memory = encoder(source)  # expect: eval-without-no-grad
        output = decoder(target[:, :-1], memory)
        total += criterion(output, target[:, 1:]).item()
    return total / len(loader)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=10)
    args = parser.parse_args()
    encoder, decoder = Encoder(args.width), Decoder(args.width)
    optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()])
    criterion = nn.MSELoss()
    pairs = [(torch.randn(12, args.width), torch.randn(15, args.width)) for _ in range(256)]
    loader = DataLoader(pairs, batch_size=16)
    for epoch in range(args.epochs):
        encoder.train()
        decoder.train()
        for source, target in loader:
            output = decoder(target[:, :-1], encoder(source))
            loss = criterion(output, target[:, 1:])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(epoch, evaluate(encoder, decoder, loader, criterion))


if __name__ == "__main__":
    main()
