import torch
from torchvision import models

model = models.resnet18(weights="DEFAULT")
head = torch.optim.SGD(model.fc.parameters(), lr=0.1)
rest = torch.optim.SGD(model.layer4.parameters(), lr=0.001)
for x, y in torch.utils.data.DataLoader([]):
    head.zero_grad()
    rest.zero_grad()
    torch.nn.functional.cross_entropy(model(x), y).backward()
    head.step()
    rest.step()
