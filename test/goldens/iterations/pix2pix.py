import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class Facades(Dataset):
    def __len__(self):
        return 12

    def __getitem__(self, index):
        image = torch.rand(3, 32, 64)
        return image[:, :, :32], image[:, :, 32:]


class UNet(nn.Module):
    def __init__(self, c=8):
        super().__init__()
        self.down1 = nn.Conv2d(3, c, 4, 2, 1)
        self.down2 = nn.Sequential(nn.Conv2d(c, 2 * c, 4, 2, 1), nn.BatchNorm2d(2 * c))
        self.up2 = nn.Sequential(nn.ConvTranspose2d(2 * c, c, 4, 2, 1), nn.BatchNorm2d(c), nn.Dropout(0.5))
        self.up1 = nn.ConvTranspose2d(2 * c, 3, 4, 2, 1)

    def forward(self, x):
        d1 = self.down1(x)
        d2 = self.down2(F.leaky_relu(d1, 0.2))
        u2 = self.up2(F.relu(d2))
        return torch.tanh(self.up1(F.relu(torch.cat([u2, d1], 1))))


class PatchGAN(nn.Module):
    def __init__(self, c=8):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(6, c, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(c, 2 * c, 4, 2, 1), nn.BatchNorm2d(2 * c), nn.LeakyReLU(0.2), nn.Conv2d(2 * c, 1, 3, 1, 1)
        )

    def forward(self, x, y):
        return self.net(torch.cat((x, y), dim=1))


def train_step(gen, disc, opt_gen, opt_disc, bce, l1, x, y):
    y_fake = gen(x)
    D_real = disc(x, y)
    D_fake = disc(x, y_fake.detach())
    D_loss = (bce(D_real, torch.ones_like(D_real)) + bce(D_fake, torch.zeros_like(D_fake))) / 2
    opt_disc.zero_grad()
    D_loss.backward()
    opt_disc.step()

    D_fake = disc(x, y_fake)
    G_loss = bce(D_fake, torch.ones_like(D_fake)) + 100 * l1(y_fake, y)
    opt_gen.zero_grad()
    G_loss.backward()
    opt_gen.step()
    return D_loss.item(), G_loss.item()


def train(loader, epochs=1):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    gen, disc = UNet().to(device), PatchGAN().to(device)
    opt_disc = torch.optim.AdamW(disc.parameters(), lr=2e-4, betas=(0.5, 0.999))
    opt_gen = torch.optim.SGD(gen.parameters(), lr=2e-4, momentum=0.9)
    bce, l1 = nn.BCEWithLogitsLoss(), nn.L1Loss()
    for epoch in range(epochs):
        for x, y in loader:
            x, y = x.to(device), y.to(device)
            d, g = train_step(gen, disc, opt_gen, opt_disc, bce, l1, x, y)
            print(d, g)


if __name__ == "__main__":
    train(DataLoader(Facades(), batch_size=2))
