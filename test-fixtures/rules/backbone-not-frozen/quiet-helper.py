import torch
from torchvision import models

from utils import freeze_backbone

model = models.resnet18(weights="DEFAULT")
freeze_backbone(model)
model.fc = torch.nn.Linear(512, 10)
optimizer = torch.optim.SGD(model.fc.parameters(), lr=0.01)
for x, y in torch.utils.data.DataLoader([]):
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
