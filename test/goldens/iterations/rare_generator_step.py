import torch
import torch.nn as nn

generator = nn.Sequential(nn.Linear(16, 256), nn.ReLU(), nn.Linear(256, 64))
critic = nn.Sequential(nn.Linear(64, 128), nn.LeakyReLU(0.2), nn.Linear(128, 1))
generator_optimizer = torch.optim.RMSprop(generator.parameters(), lr=5e-5)
critic_optimizer = torch.optim.RMSprop(critic.parameters(), lr=5e-5)

for i in range(41):
    real = torch.randn(32, 64)
    critic_optimizer.zero_grad()
    fake = generator(torch.randn(32, 16)).detach()
    loss_critic = critic(fake).mean() - critic(real).mean()
    loss_critic.backward()
    critic_optimizer.step()
    if (i + 1) % 20 == 0:
        generator_optimizer.zero_grad()
        loss_generator = -critic(generator(torch.randn(32, 16))).mean()
        loss_generator.backward()
        generator_optimizer.step()
