import torch
import torch.nn as nn
import torch.optim as optim
from torch.utils.data import DataLoader
from torchvision import datasets, transforms

train_set = datasets.CIFAR10("./data", train=True, download=True, transform=transforms.ToTensor())
loader = DataLoader(train_set, batch_size=128, shuffle=True, num_workers=2)

model = nn.Sequential(
    nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(), nn.Linear(64 * 8 * 8, 10),
).cuda()
criterion = nn.CrossEntropyLoss()
optimizer = optim.SGD(model.parameters(), lr=0.01, momentum=0.9)

losses = []
for epoch in range(10):
    running_loss = 0.0
    for inputs, labels in loader:
        inputs, labels = inputs.cuda(), labels.cuda()
        optimizer.zero_grad()
        outputs = model(inputs)
        loss = criterion(outputs, labels)
        loss.backward()
        optimizer.step()
        running_loss += loss  # expect: graph-retained-after-backward
        losses.append(loss)  # expect: graph-retained-after-backward
    print(f"[{epoch + 1}] loss: {running_loss / len(loader):.3f}")
print("lowest loss of a batch: %.3f" % min(losses))
