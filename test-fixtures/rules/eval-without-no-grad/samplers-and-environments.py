# `step` of a sampler or an environment takes and gives values; it is no optimizer's.
import gymnasium
import torch
import torch.nn as nn
from diffusers import DDPMScheduler


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 3, padding=1)

    def forward(self, x, t):
        return self.conv(x)


model = Denoiser().cuda()
noise_scheduler = DDPMScheduler()
policy = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 2)).cuda()
env = gymnasium.make("CartPole-v1")


def sample(count):
    model.eval()
    x = torch.randn(count, 3, 64, 64, device="cuda")
    for t in noise_scheduler.timesteps:
        noise = model(x, t)  # expect: eval-without-no-grad
        x = noise_scheduler.step(noise, t, x).prev_sample
    return x.clamp(-1, 1)


def evaluate(episodes):
    total = 0.0
    for _ in range(episodes):
        state, _ = env.reset()
        done = False
        while not done:
            scores = policy(torch.as_tensor(state).cuda())  # expect: eval-without-no-grad
            state, reward, done, _, _ = env.step(scores.argmax().item())
            total += reward
    return total / episodes


def adapted(loader):
    # Here a step trains.
    model.eval()
    for x, t in loader:
        noise = model(x, t)
        learner.step(noise)


def train(loader, optimizer):
    model.train()
    for x, t, noise in loader:
        loss = (model(x, t) - noise).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    images = sample(16)
    print(images.mean().item(), evaluate(10))
