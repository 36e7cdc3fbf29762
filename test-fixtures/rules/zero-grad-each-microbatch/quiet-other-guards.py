# A guarded step that is no accumulation: bad steps are skipped, the generator is trained less often, a replay buffer
# has to fill first.
import math
import random
from collections import deque

import torch
from torch import nn

model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters())
batches = [(torch.randn(8, 8), torch.randn(8, 1)) for _ in range(100)]


def skip_bad_steps():
    for x, y in batches:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 10.0)
        if math.isfinite(norm):
            optimizer.step()


def log_and_save():
    for i, (x, y) in enumerate(batches):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        if (i + 1) % 10 == 0:
            print(i, loss.item())
            torch.save(model.state_dict(), f"step{i}.pt")


def wgan(generator, critic, opt_g, opt_c, images, n_critic=5, clip=0.01):
    for i, real in enumerate(images):
        opt_c.zero_grad()
        fake = generator(torch.randn(real.size(0), 64)).detach()
        loss_c = critic(fake).mean() - critic(real).mean()
        loss_c.backward()
        opt_c.step()
        for p in critic.parameters():
            p.data.clamp_(-clip, clip)

        opt_g.zero_grad()
        if i % n_critic == 0:
            loss_g = -critic(generator(torch.randn(real.size(0), 64))).mean()
            loss_g.backward()
            opt_g.step()


def replay(env, steps):
    memory = deque(maxlen=1000)
    state = env.reset()
    for step in range(steps):
        next_state, reward = env.step(state)
        memory.append((state, reward))
        state = next_state
        if len(memory) >= 64 and step % 4 == 0:
            states, rewards = zip(*random.sample(memory, 64))
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(torch.stack(states)), torch.tensor(rewards).unsqueeze(1))
            loss.backward()
            optimizer.step()
