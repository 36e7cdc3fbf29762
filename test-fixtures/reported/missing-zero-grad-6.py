# The decoder of a compiled model is tuned, windows of a batch in an inner loop; the reset before backward is missing.
# https://github.com/snakers4/silero-vad/pull/699
import torch
import torch.nn as nn
from tqdm import tqdm


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTMCell(128, 128)
        self.decoder = nn.Sequential(nn.Dropout(0.1), nn.ReLU(), nn.Conv1d(128, 1, kernel_size=1), nn.Sigmoid())

    def forward(self, x, state=None):
        h, c = self.rnn(x.squeeze(-1), state)
        return self.decoder(h.unsqueeze(-1)), (h, c)


def train(config, loader, jit_model, decoder, criterion, optimizer, device):
    decoder.train()
    total = 0.0
    for x, targets, masks in tqdm(loader):
        targets, masks, x = targets.to(device), masks.to(device), x.to(device)
        stacked, state = [], None
        for i in range(0, x.shape[1], 512):
            with torch.no_grad():
                encoded = jit_model(x[:, i : i + 512])
            out, state = decoder(encoded, state)
            stacked.append(out)
        loss = (criterion(torch.cat(stacked, dim=2).squeeze(1), targets) * masks).mean()
        loss.backward()
        optimizer.step()  # expect: missing-zero-grad
        total += loss.item()
    return total / len(loader)


def main(config, loader):
    decoder = Decoder().cuda()
    jit_model = torch.jit.load("silero.jit").cuda()
    optimizer = torch.optim.Adam(decoder.parameters(), lr=config.learning_rate)
    train(config, loader, jit_model, decoder, nn.BCELoss(reduction="none"), optimizer, "cuda")
