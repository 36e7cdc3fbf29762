import torch
from torch import nn
from torchvision import datasets
from torchvision import transforms as T

pipeline = T.Compose([T.Resize(72), T.CenterCrop(64), T.ToTensor()])
data = datasets.ImageFolder("pictures", transform=pipeline)
loader = torch.utils.data.DataLoader(data, 4, shuffle=True)
model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 2))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    for i, batch in enumerate(loader, 0):
        inputs, labels = batch
        optimizer.zero_grad()
        outputs = model(inputs)
        loss = criterion(outputs, labels)
        loss.backward()
        optimizer.step()
