import os

import torch
import torch.nn as nn
from PIL import Image
from torch.utils.data import DataLoader, Dataset, random_split
from torchvision import transforms as T


class Pictures(Dataset):
    def __init__(self, root, size=32):
        self.root = root
        self.files = sorted(os.listdir(root))
        self.transform = T.Compose([T.Resize((size, 2 * size)), T.Grayscale(), T.ToTensor()])

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        picture = Image.open(os.path.join(self.root, self.files[index])).convert("RGB")
        return {"image": self.transform(picture), "name": self.files[index]}


class Trainer:
    def __init__(self, model, loader):
        self.model, self.loader = model, loader
        self.optimizer = torch.optim.Adam(self.model.parameters())

    def fit(self, epochs):
        for epoch in range(epochs):
            self.one_epoch()

    def one_epoch(self):
        for batch in self.loader:
            image = batch["image"]
            loss = self.model(image).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()


whole = Pictures("pictures/a")
train_set, val_set = random_split(whole, [4, 2])
loader = DataLoader(train_set, 2, shuffle=True)
Trainer(nn.Conv2d(1, 4, 3), loader).fit(2)
