# "detaching should be used in my opinion": both gradients are reset, so the result is right, at the cost of a
# generator's backward in each step of the discriminator. https://github.com/yunjey/pytorch-tutorial/issues/56
import torch
from torch import nn

D = nn.Sequential(nn.Linear(784, 256), nn.LeakyReLU(0.2), nn.Linear(256, 1), nn.Sigmoid()).to("cuda")
G = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 784), nn.Tanh()).to("cuda")
criterion = nn.BCELoss()
d_optimizer = torch.optim.Adam(D.parameters(), lr=0.0002)
g_optimizer = torch.optim.Adam(G.parameters(), lr=0.0002)


def reset_grad():
    d_optimizer.zero_grad()
    g_optimizer.zero_grad()


def train(data_loader):
    for images, _ in data_loader:
        images = images.view(images.size(0), -1).to("cuda")
        real_labels = torch.ones(images.size(0), 1).to("cuda")
        fake_labels = torch.zeros(images.size(0), 1).to("cuda")
        d_loss_real = criterion(D(images), real_labels)
        fake_images = G(torch.randn(images.size(0), 64).to("cuda"))
        d_loss_fake = criterion(D(fake_images), fake_labels)  # expect: generator-not-detached
        d_loss = d_loss_real + d_loss_fake
        reset_grad()
        d_loss.backward()
        d_optimizer.step()

        g_loss = criterion(D(G(torch.randn(images.size(0), 64).to("cuda"))), real_labels)
        reset_grad()
        g_loss.backward()
        g_optimizer.step()
