# Form of https://github.com/wgcban/ChangeFormer/issues/91: larger pictures in half precision; G_loss is NaN.
import torch
from torch import nn
from torchvision.models.segmentation import fcn_resnet50


class CDTrainer:
    def __init__(self, args, dataloaders):
        self.dataloaders = dataloaders
        self.net_G = fcn_resnet50(num_classes=2).cuda().half()  # expect: manual-half-cast
        self.optimizer_G = torch.optim.Adam(self.net_G.parameters(), lr=args.lr)
        self._pxl_loss = nn.CrossEntropyLoss()

    def train_models(self, epochs):
        for _ in range(epochs):
            self.net_G.train()
            for batch in self.dataloaders["train"]:
                self.optimizer_G.zero_grad()
                predicted = self.net_G(batch["A"].cuda().half())["out"]
                loss = self._pxl_loss(predicted, batch["L"].cuda())
                loss.backward()
                self.optimizer_G.step()
