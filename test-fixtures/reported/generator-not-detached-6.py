# "Why there is no detach() after the generator?" Attributes of a class, two noises, labels as attributes.
# https://github.com/znxlwm/pytorch-generative-model-collections/issues/4
import torch
import torch.nn as nn
import torch.optim as optim


class Generator(nn.Module):
    def __init__(self, z_dim=62):
        super().__init__()
        self.fc = nn.Sequential(nn.Linear(z_dim, 128 * 7 * 7), nn.BatchNorm1d(128 * 7 * 7), nn.ReLU())
        self.deconv = nn.Sequential(nn.ConvTranspose2d(128, 64, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(64, 1, 4, 2, 1))

    def forward(self, z):
        return torch.tanh(self.deconv(self.fc(z).view(-1, 128, 7, 7)))


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Flatten(), nn.Linear(784, 1024), nn.LeakyReLU(0.2), nn.Linear(1024, 1), nn.Sigmoid())

    def forward(self, x):
        return self.layers(x)


class GAN:
    def __init__(self, data_loader, args):
        self.epoch = args.epoch
        self.batch_size = args.batch_size
        self.z_dim = 62
        self.data_loader = data_loader
        self.G = Generator(self.z_dim).cuda()
        self.D = Critic().cuda()
        self.G_optimizer = optim.Adam(self.G.parameters(), lr=args.lrG, betas=(0.5, 0.999))
        self.D_optimizer = optim.Adam(self.D.parameters(), lr=args.lrD, betas=(0.5, 0.999))
        self.BCE_loss = nn.BCELoss().cuda()

    def train(self):
        self.train_hist = {"D_loss": [], "G_loss": []}
        self.y_real_, self.y_fake_ = torch.ones(self.batch_size, 1).cuda(), torch.zeros(self.batch_size, 1).cuda()
        self.D.train()
        for epoch in range(self.epoch):
            self.G.train()
            for iter, (x_, _) in enumerate(self.data_loader):
                if iter == self.data_loader.dataset.__len__() // self.batch_size:
                    break
                z_ = torch.rand((self.batch_size, self.z_dim))
                x_, z_ = x_.cuda(), z_.cuda()
                self.D_optimizer.zero_grad()
                D_real_loss = self.BCE_loss(self.D(x_), self.y_real_)
                G_ = self.G(z_)
                D_fake = self.D(G_)  # expect: generator-not-detached
                D_fake_loss = self.BCE_loss(D_fake, self.y_fake_)
                D_loss = D_real_loss + D_fake_loss
                self.train_hist["D_loss"].append(D_loss.item())
                D_loss.backward()
                self.D_optimizer.step()

                self.G_optimizer.zero_grad()
                G_ = self.G(z_)
                G_loss = self.BCE_loss(self.D(G_), self.y_real_)
                self.train_hist["G_loss"].append(G_loss.item())
                G_loss.backward()
                self.G_optimizer.step()
