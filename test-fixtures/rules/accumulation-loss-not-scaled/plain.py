import torch
from torch import nn
from torch.utils.data import DataLoader
from torchvision import datasets, transforms

ACCUMULATION_STEPS = 4
data = datasets.CIFAR100("data", train=True, download=True, transform=transforms.ToTensor())
loader = DataLoader(data, batch_size=32, shuffle=True, drop_last=True)
model = nn.Sequential(nn.Flatten(), nn.Linear(3072, 512), nn.ReLU(), nn.Linear(512, 100)).cuda()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

for epoch in range(20):
    optimizer.zero_grad()
    for i, (images, labels) in enumerate(loader):
        loss = criterion(model(images.cuda()), labels.cuda())
        loss.backward()  # expect: accumulation-loss-not-scaled
        if (i + 1) % ACCUMULATION_STEPS == 0:
            optimizer.step()
            optimizer.zero_grad()
