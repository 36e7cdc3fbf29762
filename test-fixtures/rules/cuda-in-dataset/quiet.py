# Loaded in the training process, as many workers as somebody says, moved where the batch is used, to a device that may be the CPU.
import argparse

import torch
from torch.utils.data import DataLoader, Dataset

args = argparse.ArgumentParser().parse_args()
device = "cpu"


class OnGpu(Dataset):
    def __init__(self, images):
        self.images = images

    def __getitem__(self, index):
        return self.images[index].cuda()


class InMemory(Dataset):
    def __init__(self, images):
        self.images = torch.stack(images).cuda()

    def __getitem__(self, index):
        return self.images[index]


class OnCpu(Dataset):
    def __init__(self, images, where=None):
        self.images = images
        self.where = where

    def __getitem__(self, index):
        image = self.images[index].to(device).to(torch.float32)
        return image if self.where is None else image.to(self.where)


class Guarded(Dataset):
    def __init__(self, images, preload):
        self.images = images
        self.preload = preload

    def __getitem__(self, index):
        image = self.images[index]
        if self.preload:
            image = image.cuda()
        return image

    def warm_up(self):
        return self.images[0].cuda()


def collate(batch):
    return torch.stack(batch)


def train(images, model):
    loaders = [
        DataLoader(OnGpu(images), batch_size=32),
        DataLoader(OnGpu(images), batch_size=32, num_workers=0),
        DataLoader(OnGpu(images), batch_size=32, num_workers=args.workers),
        DataLoader(InMemory(images), batch_size=32, num_workers=4),
        DataLoader(OnCpu(images), batch_size=32, num_workers=4, collate_fn=collate),
        DataLoader(Guarded(images, preload=False), batch_size=32, num_workers=4),
    ]
    for loader in loaders:
        for batch in loader:
            model(batch.cuda())
