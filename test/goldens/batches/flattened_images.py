import torch
import torchvision
from torch import nn

batch_size = 10
transform = torchvision.transforms.Compose(
    [torchvision.transforms.Pad((2, 1)), torchvision.transforms.Grayscale(1), torchvision.transforms.ToTensor()]
)
data = torchvision.datasets.FakeData(image_size=(3, 26, 24), transform=transform)
loader = torch.utils.data.DataLoader(dataset=data, batch_size=batch_size, shuffle=True)
model = nn.Sequential(nn.Linear(28 * 28, 64), nn.ReLU(), nn.Linear(64, 10))
optimizer = torch.optim.Adam(model.parameters())
for i, (images, labels) in enumerate(loader):
    images = images.reshape(-1, 28 * 28).to("cpu")
    loss = nn.functional.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
