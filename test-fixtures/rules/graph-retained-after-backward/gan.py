import itertools

import torch
import torch.nn as nn

Tensor = torch.cuda.FloatTensor if torch.cuda.is_available() else torch.FloatTensor

generator = nn.Sequential(nn.Linear(100, 128), nn.BatchNorm1d(128), nn.ReLU(), nn.Linear(128, 784), nn.Sigmoid())
discriminator = nn.Sequential(nn.Linear(784, 128), nn.LeakyReLU(0.2), nn.Linear(128, 1), nn.Sigmoid())
adversarial_loss = torch.nn.BCELoss()
optimizer_G = torch.optim.Adam(generator.parameters(), lr=0.0002, betas=(0.5, 0.999))
optimizer_D = torch.optim.Adam(discriminator.parameters(), lr=0.0002, betas=(0.5, 0.999))
dataloader = [(torch.rand(64, 784), torch.zeros(64)) for _ in range(100)]

G_losses = []
D_losses = []
d_x = 0

for epoch, (i, (imgs, _)) in itertools.product(range(3), enumerate(dataloader)):
    valid = torch.ones(imgs.size(0), 1)
    fake = torch.zeros(imgs.size(0), 1)

    optimizer_G.zero_grad()
    gen_imgs = generator(torch.randn(imgs.shape[0], 100))
    g_loss = adversarial_loss(discriminator(gen_imgs), valid)
    g_loss.backward()
    optimizer_G.step()

    optimizer_D.zero_grad()
    real_out = discriminator(imgs)
    real_loss = adversarial_loss(real_out, valid)
    fake_loss = adversarial_loss(discriminator(gen_imgs.detach()), fake)
    d_loss = (real_loss + fake_loss) / 2
    d_loss.backward()
    optimizer_D.step()

    G_losses += [g_loss]  # expect: graph-retained-after-backward
    D_losses.append(d_loss)  # expect: graph-retained-after-backward
    # expect-next: graph-retained-after-backward
    d_x = (
        d_x
        + real_loss
    )

    if i % 50 == 0:
        print(f"[{epoch}] [{i}] D {d_loss.item():.3f} G {g_loss.item():.3f} real {d_x / (i + 1):.3f}")
