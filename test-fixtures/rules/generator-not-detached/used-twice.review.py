"""Images that enter the discriminator's loss in two places: both have to lose their graph."""
import torch
from torch import nn

generator = nn.Sequential(nn.Linear(100, 784), nn.Tanh()).cuda()
discriminator = nn.Sequential(nn.Linear(784, 64), nn.ReLU(), nn.Linear(64, 784)).cuda()
generator_optimizer = torch.optim.Adam(generator.parameters(), lr=1e-4)
discriminator_optimizer = torch.optim.Adam(discriminator.parameters(), lr=1e-4)


def train(loader):
    for images, _ in loader:
        images = images.flatten(1).cuda()
        noise = torch.randn(images.size(0), 100).cuda()

        discriminator_optimizer.zero_grad()
        with torch.no_grad():
            fake = generator(noise)
        fake_loss = (discriminator(fake) - fake).abs().mean()  # expect: generator-not-detached
        print(fake.shape)
        loss = (discriminator(images) - images).abs().mean() - 0.5 * fake_loss
        loss.backward()
        discriminator_optimizer.step()

        generator_optimizer.zero_grad()
        fake = generator(noise)
        generator_loss = (discriminator(fake) - fake).abs().mean()
        generator_loss.backward()
        generator_optimizer.step()
