import os

import cv2
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Pictures(Dataset):
    def __init__(self, folder, size=(40, 30)):
        self.paths = [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
        self.size = size

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        picture = cv2.imread(self.paths[index])
        picture = cv2.cvtColor(picture, cv2.COLOR_BGR2RGB)
        picture = cv2.resize(picture, self.size)
        grey = cv2.imread(self.paths[index], cv2.IMREAD_GRAYSCALE)
        grey = np.expand_dims(cv2.resize(grey, self.size).astype(np.float32) / 255.0, 0)
        colours = torch.tensor(picture.transpose(2, 0, 1) / 255.0, dtype=torch.float32)
        return torch.cat([colours, torch.from_numpy(grey)])


model = nn.Conv2d(4, 2, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for batch in DataLoader(Pictures("pictures/a"), batch_size=3):
    loss = model(batch).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
