# Dictionaries of outputs, lists by name, hooks that are given what a step returned, and a step that others share.
from collections import defaultdict

import pytorch_lightning as pl
import torch
import torchvision
from torch import nn


class Segmenter(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torchvision.models.segmentation.fcn_resnet50(num_classes=21)
        self.outputs = {"val": [], "train": []}
        self.epochs = 0

    def training_step(self, batch, batch_idx):
        images, masks = batch
        scores = self.net(images)["out"]
        self.outputs["train"].append(scores.detach())  # expect: lightning-outputs-kept
        return nn.functional.cross_entropy(scores, masks)

    def validation_step(self, batch, batch_idx):
        images, masks = batch
        scores = self.net(images)["out"]
        self.outputs["val"].append({"scores": scores, "masks": masks})  # expect: lightning-outputs-kept

    def on_validation_epoch_end(self):
        scores = torch.cat([one["scores"] for one in self.outputs["val"]])
        self.log("confidence", scores.softmax(1).amax(1).mean())
        self.epochs += 1


class Encoder(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 768))
        self.embeddings = defaultdict(list)
        self.returned = []
        self.parts = list()

    def training_step(self, batch, batch_idx):
        return self.shared_step(batch, "train")

    def validation_step(self, batch, batch_idx):
        loss = self.shared_step(batch, "val")
        return {"loss": loss, "embeddings": self.encoder(batch)}

    def shared_step(self, batch, stage):
        embeddings = self.encoder(batch)
        self.embeddings[stage].append(embeddings.detach())  # expect: lightning-outputs-kept
        return embeddings.square().mean()

    def on_validation_batch_end(self, outputs, batch, batch_idx, dataloader_idx=0):
        self.returned.append(outputs)  # expect: lightning-outputs-kept
        self.parts.append(outputs["embeddings"])  # expect: lightning-outputs-kept

    def on_validation_epoch_end(self):
        print(len(self.returned), torch.cat(self.parts).norm())
