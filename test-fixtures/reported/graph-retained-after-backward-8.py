# The average of a run is a tensor on the device that each step adds to in place: host memory grows for hours.
# https://github.com/NVIDIA/DeepLearningExamples/issues/1102
import torch
from torch import nn


class Stats:
    def __init__(self, device):
        self._device_stats = {}
        self.device = device

    def device_stat(self, name):
        if name not in self._device_stats:
            self._device_stats[name] = torch.zeros(1, device=self.device)
        return self._device_stats[name]


def take_optimizer_step(optimizer, model):
    optimizer.step()
    for param in model.parameters():
        param.grad = None


def main(dataloader, steps):
    device = torch.device("cuda", 0)
    model = nn.TransformerEncoder(nn.TransformerEncoderLayer(1024, 16, batch_first=True), 24).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=6e-3)
    stats = Stats(device)
    average_loss = torch.zeros(1, device=device)
    for step, batch in enumerate(dataloader):
        loss = model(batch.to(device)).square().mean()
        loss.backward()
        stats.device_stat("average_loss").add_(loss)
        average_loss.add_(loss)  # expect: graph-retained-after-backward
        take_optimizer_step(optimizer, model)
        if step == steps:
            break
    print(average_loss.item() / steps)
