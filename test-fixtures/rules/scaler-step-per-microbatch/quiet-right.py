# Scaled each time, everything else once for each step, in the usual shapes.
import torch
from torch import nn
from torch.amp import GradScaler, autocast

k = 4
model = nn.Linear(64, 10).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scaler = GradScaler("cuda")
off = GradScaler("cuda", enabled=False)
batches = [(torch.randn(8, 64).cuda(), torch.randint(10, (8,)).cuda()) for _ in range(400)]


def loss_of(x, y):
    with autocast("cuda"):
        return nn.functional.cross_entropy(model(x), y) / k


def in_the_guard():
    for i, (x, y) in enumerate(batches):
        scaler.scale(loss_of(x, y)).backward()
        if (i + 1) % k == 0:
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()


def behind_continue():
    for i, (x, y) in enumerate(batches, 1):
        scaler.scale(loss_of(x, y)).backward()
        if i % k != 0:
            continue
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()


def same_condition_twice():
    for i, (x, y) in enumerate(batches):
        scaler.scale(loss_of(x, y)).backward()
        if (i + 1) % k == 0:
            scaler.unscale_(optimizer)
        if (i + 1) % k == 0:
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()


def no_accumulation():
    for i, (x, y) in enumerate(batches):
        optimizer.zero_grad()
        scaler.scale(loss_of(x, y)).backward()
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
        if (i + 1) % k == 0:
            print(i)


def switched_off():
    for i, (x, y) in enumerate(batches):
        off.scale(loss_of(x, y)).backward()
        if (i + 1) % k == 0:
            off.step(optimizer)
            optimizer.zero_grad()
        off.update()


def generator_less_often(generator, critic, opt_g, opt_c, images):
    for i, real in enumerate(images):
        opt_c.zero_grad()
        fake = generator(torch.randn(len(real), 16).cuda())
        scaler.scale(critic(fake.detach()).mean() - critic(real).mean()).backward()
        scaler.step(opt_c)
        if i % 5 == 0:
            opt_g.zero_grad()
            scaler.scale(-critic(fake).mean()).backward()
            scaler.step(opt_g)
        scaler.update()


def micro_loop():
    for _ in range(100):
        for micro_step in range(4):
            x, y = batches[micro_step]
            scaler.scale(loss_of(x, y)).backward()
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad(set_to_none=True)


class CFG:
    accumulation_steps = 1
    unscale = True


def every_micro_batch_is_a_step():
    for i, (x, y) in enumerate(batches):
        scaler.scale(loss_of(x, y)).backward()
        if CFG.unscale:
            scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if (i + 1) % CFG.accumulation_steps == 0:
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
