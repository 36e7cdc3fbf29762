import torch
from torch import nn


class SegmentationTrainer:
    def __init__(self, net, loaders, device):
        self.net = net.to(device)
        self.loaders = loaders
        self.device = device
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.01, momentum=0.9)
        self.loss = nn.CrossEntropyLoss(ignore_index=255)

    def _prepare(self, batch):
        return {k: v.to(self.device, non_blocking=True) for k, v in batch.items()}

    def training(self, epoch):
        self.net.train()
        for batch in self.loaders["train"]:
            batch = self._prepare(batch)
            loss = self.loss(self.net(batch["image"]), batch["label"])
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()

    def validation(self, epoch):
        self.net.eval()
        inter = union = 0
        for i, batch in enumerate(self.loaders["val"]):
            batch = self._prepare(batch)
            pred = self.net(batch["image"]).argmax(1)  # expect: eval-without-no-grad
            inter += ((pred == 1) & (batch["label"] == 1)).sum().item()
            union += ((pred == 1) | (batch["label"] == 1)).sum().item()
        print(f"epoch {epoch} IoU {inter / max(union, 1):.3f}")
        self.net.train()


def main():
    sample = {"image": torch.rand(4, 3, 64, 64), "label": torch.zeros(4, 64, 64, dtype=torch.long)}
    net = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 2, 1))
    trainer = SegmentationTrainer(net, {"train": [sample] * 20, "val": [sample] * 5}, "cuda")
    for epoch in range(3):
        trainer.training(epoch)
        trainer.validation(epoch)


main()
