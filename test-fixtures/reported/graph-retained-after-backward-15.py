# A dictionary of totals that begin as tensors on the device, one for each loss of a detector.
# https://github.com/MultimediaTechLab/YOLO/pull/83
from collections import defaultdict

import torch
from torch.amp import GradScaler, autocast
from torchvision.models.detection import fasterrcnn_resnet50_fpn


class ModelTrainer:
    def __init__(self, device):
        self.device = device
        self.model = fasterrcnn_resnet50_fpn(num_classes=81).to(device)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01, momentum=0.937)
        self.scaler = GradScaler("cuda")

    def train_one_batch(self, images, targets):
        self.optimizer.zero_grad()
        with autocast("cuda"):
            losses = self.model(images, targets)
            loss = sum(losses.values())
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()
        return losses

    def train_one_epoch(self, dataloader):
        self.model.train()
        total_loss = defaultdict(lambda: torch.tensor(0.0, device=self.device))
        total_samples = 0
        for images, targets in dataloader:
            loss_each = self.train_one_batch(images, targets)
            for loss_name, loss_val in loss_each.items():
                total_loss[loss_name] += loss_val * len(images)  # expect: graph-retained-after-backward
            total_samples += len(images)
        for name in total_loss:
            total_loss[name] /= total_samples
        return total_loss
