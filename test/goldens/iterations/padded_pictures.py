import random

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


def padded(images, value=0):
    shape = tuple(max(sizes) for sizes in zip(*[image.shape for image in images]))
    batch = images[0].new(*((len(images),) + shape)).fill_(value)
    for image, place in zip(images, batch):
        place[..., : image.shape[-2], : image.shape[-1]].copy_(image)
    return batch


class Flip:
    def __init__(self, chance):
        self.chance = chance

    def __call__(self, image, mask):
        if random.random() < self.chance:
            image = image.flip(-1)
            mask = mask.flip(-1)
        return image, mask


class Noise:
    def __call__(self, image):
        if random.random() < 0.5:
            turns = 2
            return image.rot90(turns, (1, 2))
        else:
            return image


class Pictures(Dataset):
    def __init__(self):
        self.flip = Flip(0.5)
        self.noise = Noise()

    def __len__(self):
        return 16

    def __getitem__(self, i):
        image, mask = torch.rand(3, 24, 24), torch.randint(0, 4, (24, 24))
        image, mask = self.flip(image, mask)
        return self.noise(image), mask

    @staticmethod
    def collate(batch):
        images, masks = list(zip(*batch))
        return padded(images), padded(masks, value=255)


model = nn.Sequential(nn.Conv2d(3, 12, 3, padding=1), nn.BatchNorm2d(12), nn.ReLU(), nn.Conv2d(12, 4, 1))
loader = DataLoader(Pictures(), batch_size=4, collate_fn=Pictures.collate)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, foreach=True)

for epoch in range(2):
    for images, masks in loader:
        output = model(images)
        losses = {"out": nn.functional.cross_entropy(output, masks, ignore_index=255)}
        loss = losses["out"]
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
