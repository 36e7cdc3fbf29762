import torch
from torch.utils.data import DataLoader, TensorDataset, random_split

dataset = TensorDataset(torch.arange(8000.0).view(1000, 8), torch.arange(1000.0).view(1000, 1))
train_set, val_set = random_split(dataset, [900, 100])  # expect: split-without-generator
model = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in DataLoader(train_set, batch_size=32):
    optimizer.zero_grad()
    torch.nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()
