# Two images sixteen times are not 32 images for the layers that normalize.
import torch
import torchvision
from torch import nn
from torch.utils.data import DataLoader
from torchvision import datasets, transforms

n_step = 16
train_data = datasets.ImageFolder("pets", transforms.Compose([transforms.Resize(512), transforms.ToTensor()]))
train_loader = DataLoader(train_data, batch_size=2, shuffle=True, drop_last=True)
model = torchvision.models.resnet50(weights="DEFAULT")
model.fc = nn.Linear(2048, 37)
model = model.cuda()
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)

model.train()
acc_batches = 0
for x, y in train_loader:
    loss = nn.functional.cross_entropy(model(x.cuda()), y.cuda())
    (loss / n_step).backward()
    acc_batches += 1
    if acc_batches % n_step == 0:  # expect: batchnorm-in-accumulation
        opt.step()
        opt.zero_grad()
