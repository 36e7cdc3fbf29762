# The tensors are the workspace's own; PyTorch gives the batches only.
import numpy as np
import tensors
from tensors import nn, optim
from torch.utils.data import DataLoader
from torchvision.datasets import MNIST


class Net(nn.Module):
    def __init__(self):
        self.first, self.second = nn.Linear(784, 128), nn.Linear(128, 10)

    def forward(self, x):
        return self.second(self.first(x))


def collate(batch):
    return tensors.Tensor([np.ravel(image) for image, _ in batch]), tensors.Tensor([label for _, label in batch])


model = Net()
optimizer = optim.SGD(model.parameters(), lr=0.1)
train_loader = DataLoader(MNIST("data", train=True), batch_size=16, collate_fn=collate)
test_loader = DataLoader(MNIST("data", train=False), batch_size=16, collate_fn=collate)

for epoch in range(10):
    for images, labels in train_loader:
        loss = model(images)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    hits = []
    for images, labels in test_loader:
        predicted = model(images)
        hits.append(np.mean(predicted.data.argmax(axis=-1) == labels.data))
    print(np.mean(hits))
