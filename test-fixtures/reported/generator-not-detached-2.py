# "Wouldn't it be better to detach the fake data here?" A critic with a gradient penalty on mixed images.
# https://github.com/eriklindernoren/PyTorch-GAN/issues/21
import torch
from torch import nn

generator = nn.Sequential(nn.Linear(100, 784), nn.Tanh()).cuda()
discriminator = nn.Sequential(nn.Linear(784, 256), nn.LeakyReLU(0.2), nn.Linear(256, 1)).cuda()
optimizer_G = torch.optim.Adam(generator.parameters(), lr=2e-4)
optimizer_D = torch.optim.Adam(discriminator.parameters(), lr=2e-4)


def compute_gradient_penalty(D, real_samples, fake_samples):
    alpha = torch.rand(real_samples.size(0), 1).cuda()
    interpolates = (alpha * real_samples + (1 - alpha) * fake_samples).requires_grad_(True)
    d_interpolates = D(interpolates)
    gradients = torch.autograd.grad(
        outputs=d_interpolates, inputs=interpolates, grad_outputs=torch.ones_like(d_interpolates), create_graph=True
    )[0]
    return ((gradients.norm(2, dim=1) - 1) ** 2).mean()


def train(dataloader, n_critic=5):
    for i, (imgs, _) in enumerate(dataloader):
        real_imgs = imgs.cuda()
        optimizer_D.zero_grad()
        z = torch.randn(imgs.shape[0], 100).cuda()
        fake_imgs = generator(z)
        real_validity = discriminator(real_imgs)
        fake_validity = discriminator(fake_imgs)  # expect: generator-not-detached
        penalty = compute_gradient_penalty(discriminator, real_imgs.data, fake_imgs.data)
        d_loss = -torch.mean(real_validity) + torch.mean(fake_validity) + 10 * penalty
        d_loss.backward()
        optimizer_D.step()
        optimizer_G.zero_grad()
        if i % n_critic == 0:
            g_loss = -torch.mean(discriminator(generator(z)))
            g_loss.backward()
            optimizer_G.step()
