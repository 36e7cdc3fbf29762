# Super-resolution with a discriminator that sees the network's image: "Is this an error?"
# https://github.com/alterzero/DBPN-Pytorch/issues/37
import torch
import torch.nn as nn
import torch.optim as optim

BCE_loss = nn.BCELoss()
MSE_loss = nn.MSELoss()


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Sequential(nn.Conv2d(3, 64, 3, padding=1), nn.PReLU(), nn.ConvTranspose2d(64, 3, 4, 2, 1))

    def forward(self, x):
        return self.up(x)


class Discriminator(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(3, 64, 4, 2), nn.LeakyReLU(0.2), nn.Flatten(), nn.Linear(size, 1), nn.Sigmoid())

    def forward(self, x):
        return self.layers(x).view(-1)


model = Generator().cuda()
D = Discriminator(64 * 31 * 31).cuda()
optimizer = optim.Adam(model.parameters(), lr=1e-4)
D_optimizer = optim.Adam(D.parameters(), lr=1e-4)


def train(training_data_loader):
    model.train()
    D.train()
    for iteration, batch in enumerate(training_data_loader, 1):
        input, target = batch[0].cuda(), batch[1].cuda()
        real_label = torch.ones(input.size(0)).cuda()
        fake_label = torch.zeros(input.size(0)).cuda()

        D_optimizer.zero_grad()
        D_real_decision = D(target)
        D_real_loss = BCE_loss(D_real_decision, real_label)
        recon_image = model(input)
        D_fake_decision = D(recon_image)  # expect: generator-not-detached
        D_fake_loss = BCE_loss(D_fake_decision, fake_label)
        D_loss = D_real_loss + D_fake_loss
        D_loss.backward()
        D_optimizer.step()

        optimizer.zero_grad()
        recon_image = model(input)
        D_fake_decision = D(recon_image)
        GAN_loss = 1e-3 * BCE_loss(D_fake_decision, real_label)
        G_loss = GAN_loss + MSE_loss(recon_image, target)
        G_loss.backward()
        optimizer.step()
        print(iteration, G_loss.data, D_loss.data)
