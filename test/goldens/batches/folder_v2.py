import torch
from torch import nn
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder
from torchvision.transforms import v2

train_transform = v2.Compose(
    [
        v2.RandomResizedCrop((48, 40)),
        v2.RandomApply([v2.ColorJitter(0.1)], p=0.5),
        v2.ToImage(),
        v2.ToDtype(torch.float32, scale=True),
        v2.Normalize([0.5, 0.5, 0.5], [0.5, 0.5, 0.5]),
    ]
)
loader = DataLoader(dataset=ImageFolder("pictures", train_transform), batch_size=3, drop_last=True)
model = nn.Conv2d(3, 8, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for image, _ in loader:
    loss = model(image).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
