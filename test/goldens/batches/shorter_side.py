import torch
from torch import nn
from torchvision import datasets, transforms

data = datasets.FakeData(50, (3, 120, 90), 10, transforms.Compose([transforms.Resize(60), transforms.ToTensor()]))
loader = torch.utils.data.DataLoader(data, batch_size=5)
model = nn.Conv2d(3, 4, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
batches = iter(loader)
for iteration in range(3):
    picture, label = next(batches)
    loss = model(picture).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
