import os

import albumentations as A
import numpy as np
import torch
from albumentations.pytorch import ToTensorV2
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Masks(Dataset):
    def __init__(self, folder, transform):
        self.paths = [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
        self.transform = transform

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        picture = np.array(Image.open(self.paths[index]).convert("RGB"))
        mask = np.array(Image.open(self.paths[index]).convert("L"), dtype=np.float32)
        changed = self.transform(image=picture, mask=mask)
        return changed["image"], changed["mask"].unsqueeze(0)


steps = A.Compose(
    [A.Resize(height=48, width=64), A.HorizontalFlip(p=0.5), A.OneOf([A.Blur(), A.RandomGamma()]), A.Normalize(), ToTensorV2()]
)
model = nn.Conv2d(3, 1, 3, padding=1)
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.AdamW(model.parameters())
for pictures, masks in DataLoader(Masks("pictures/b", steps), batch_size=2):
    loss = criterion(model(pictures), masks)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
