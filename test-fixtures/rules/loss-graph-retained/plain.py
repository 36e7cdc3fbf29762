"""Trains a small digit classifier and prints the validation loss after every epoch."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader
from torchvision import datasets, transforms

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
to_tensor = transforms.ToTensor()
train_loader = DataLoader(datasets.MNIST("data", train=True, download=True, transform=to_tensor), batch_size=64, shuffle=True)
val_loader = DataLoader(datasets.MNIST("data", train=False, transform=to_tensor), batch_size=64)

model = nn.Sequential(nn.Flatten(), nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10)).to(device)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

for epoch in range(5):
    model.train()
    for images, labels in train_loader:
        images, labels = images.to(device), labels.to(device)
        optimizer.zero_grad()
        loss = criterion(model(images), labels)
        loss.backward()
        optimizer.step()

    model.eval()
    val_losses = []
    for images, labels in val_loader:
        images, labels = images.to(device), labels.to(device)
        outputs = model(images)  # expect: eval-without-no-grad
        val_loss = criterion(outputs, labels)
        val_losses.append(val_loss)  # expect: loss-graph-retained
    print(f"epoch {epoch}: validation loss {sum(val_losses) / len(val_losses):.4f}")
