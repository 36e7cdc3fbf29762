# Modulus guards around logging and saving, several losses of one step, several steps of one loss.
import torch
from torch import nn

model = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 3))
ema = nn.Linear(12, 3)
optimizer = torch.optim.Adam(model.parameters())
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 100)
criterion = nn.CrossEntropyLoss()
batches = [(torch.randn(8, 12), torch.randint(3, (8,))) for _ in range(50)]


def logging_and_saving(log_every=10):
    for i, (x, y) in enumerate(batches):
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        if (i + 1) % log_every == 0:
            print(i, loss.item())
        if (i + 1) % 25 == 0:
            torch.save(model.state_dict(), "model.pt")
            scheduler.step()


def several_domains(domains):
    for batch in zip(*domains):
        optimizer.zero_grad()
        for x, y in batch:
            loss = criterion(model(x), y)
            loss.backward()
        optimizer.step()


def real_and_fake(critic, opt, images, noise):
    for real, fake in zip(images, noise):
        opt.zero_grad()
        critic(real).mean().backward()
        (-critic(fake)).mean().backward()
        opt.step()


def less_often(generator, critic, opt_g, opt_c, images, n_critic=5):
    for i, real in enumerate(images):
        opt_c.zero_grad()
        fake = generator(torch.randn(len(real), 16)).detach()
        (critic(fake).mean() - critic(real).mean()).backward()
        opt_c.step()
        if (i + 1) % n_critic == 0:
            opt_g.zero_grad()
            (-critic(generator(torch.randn(len(real), 16))).mean()).backward()
            opt_g.step()
