import torch
from torch import nn
from torch.utils.data import DataLoader
from torchvision import datasets, transforms

k = 4
data = datasets.CIFAR10("data", train=True, download=True, transform=transforms.ToTensor())
loader = DataLoader(data, batch_size=32, shuffle=True)
model = nn.Sequential(nn.Flatten(), nn.Linear(3072, 10)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

for epoch in range(20):
    optimizer.zero_grad()
    for i, (images, labels) in enumerate(loader):
        loss = nn.functional.cross_entropy(model(images.cuda()), labels.cuda()) / k
        loss.backward()
        if (i + 1) % k == 0 or i + 1 == len(loader):  # expect: accumulation-last-group
            optimizer.step()
            optimizer.zero_grad()
