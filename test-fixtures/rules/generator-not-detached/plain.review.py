import torch
from torch import nn

generator = nn.Sequential(nn.Linear(100, 1024), nn.ReLU(), nn.Linear(1024, 784)).cuda()
discriminator = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 1)).cuda()
optimizer_g = torch.optim.Adam(generator.parameters(), lr=2e-4)
optimizer_d = torch.optim.Adam(discriminator.parameters(), lr=2e-4)
criterion = nn.BCEWithLogitsLoss()
loader = [torch.randn(64, 784) for _ in range(100)]

for real in loader:
    valid = torch.ones(64, 1).cuda()
    fake = torch.zeros(64, 1).cuda()
    with torch.no_grad():
        images = generator(torch.randn(64, 100).cuda())

    optimizer_d.zero_grad()
    loss_d = criterion(discriminator(real.cuda()), valid) + criterion(discriminator(images), fake)  # expect: generator-not-detached
    loss_d.backward()
    optimizer_d.step()

    optimizer_g.zero_grad()
    loss_g = criterion(discriminator(generator(torch.randn(64, 100).cuda())), valid)
    loss_g.backward()
    optimizer_g.step()
