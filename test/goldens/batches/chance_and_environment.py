import os
import random

import torch
from PIL import Image, ImageEnhance, ImageFilter, ImageOps
from torch import nn
from torch.utils.data import BatchSampler, DataLoader, Dataset, RandomSampler
from torchvision import transforms as T


class Blur:
    def __init__(self, probability):
        self.probability = probability

    def __call__(self, picture):
        keep = random.random() > self.probability
        if keep:
            return picture
        return picture.filter(ImageFilter.GaussianBlur(radius=2))


class Solarize:
    def __call__(self, picture):
        if random.random() < 0.2:
            return ImageOps.solarize(picture)
        else:
            return ImageEnhance.Contrast(picture).enhance(1.5)


class Views(Dataset):
    def __init__(self, folder):
        self.paths = [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
        self.steps = T.Compose([T.RandomResizedCrop(40), Blur(0.5), Solarize(), T.ToTensor()])

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        picture = Image.open(self.paths[index]).convert("RGB")
        wide = picture.resize((48, 32)).transpose(Image.FLIP_LEFT_RIGHT)
        turned = wide.transpose(Image.Transpose.ROTATE_90)
        return self.steps(picture), T.functional.to_tensor(turned)


views = Views("pictures/a")
batch = 3
if "VRAMLINT_LAUNCHER" in os.environ:
    batch = int(os.environ["VRAMLINT_LAUNCHER"])
sampler = BatchSampler(RandomSampler(views), batch, drop_last=True)
loader = DataLoader(views, batch_sampler=sampler, num_workers=0)


class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.convolution = nn.Conv2d(3, 4, 3, padding=1)

    def forward(self, square, turned):
        return self.convolution(square).mean() + self.convolution(turned).mean()


model = Two()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for square, turned in loader:
    loss = model(square, turned)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
