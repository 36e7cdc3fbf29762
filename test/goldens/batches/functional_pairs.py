import argparse
import os
import random

import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms as T
from torchvision.transforms import functional as F


class Compose:
    def __init__(self, steps):
        self.steps = steps

    def __call__(self, picture, mask):
        for step in self.steps:
            picture, mask = step(picture, mask)
        return picture, mask


class RandomResize:
    def __init__(self, smallest, largest):
        self.smallest = smallest
        self.largest = largest

    def __call__(self, picture, mask):
        side = random.randint(self.smallest, self.largest)
        return F.resize(picture, side), F.resize(mask, side, interpolation=T.InterpolationMode.NEAREST)


class RandomFlip:
    def __call__(self, picture, mask):
        if random.random() < 0.5:
            picture = F.hflip(picture)
            mask = F.hflip(mask)
        return picture, mask


class RandomCrop:
    def __init__(self, size):
        self.size = size

    def __call__(self, picture, mask):
        place = T.RandomCrop.get_params(picture, (self.size, self.size))
        return F.crop(picture, *place), F.crop(mask, *place)


class ToTensor:
    def __call__(self, picture, mask):
        picture = F.normalize(F.to_tensor(picture), mean=(0.5, 0.5, 0.5), std=(0.2, 0.2, 0.2))
        return picture, F.pil_to_tensor(F.to_grayscale(mask)).float()


class Pairs(Dataset):
    def __init__(self, folder, steps):
        self.paths = [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
        self.steps = steps

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        picture = Image.open(self.paths[index])
        if picture.mode != "RGB":
            raise ValueError(f"{self.paths[index]} is {picture.mode}")
        mask = Image.open(self.paths[index]).convert("RGB")
        return self.steps(picture, mask)


def arguments():
    parser = argparse.ArgumentParser("pairs", add_help=False)
    parser.add_argument("--batch-size", default=3, type=int)
    parser.add_argument("--crop", default=56, type=int)
    return parser


def main(args):
    steps = Compose([RandomResize(64, 96), RandomFlip(), RandomCrop(args.crop), ToTensor()])
    loader = DataLoader(Pairs("pictures/a", steps), batch_size=args.batch_size, shuffle=True)
    model = nn.Conv2d(3, 1, 3, padding=1)
    criterion = nn.BCEWithLogitsLoss()
    optimizer = torch.optim.AdamW(model.parameters())
    for pictures, masks in loader:
        loss = criterion(model(pictures), masks / 255)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    parser = argparse.ArgumentParser("training", parents=[arguments()])
    main(parser.parse_args())
