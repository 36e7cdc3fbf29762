# Accelerate synchronizes at the end of a loader by itself; an engine counts by itself.
import deepspeed
import torch
from accelerate import Accelerator
from torch import nn


def with_accelerate(model, optimizer, loader):
    accelerator = Accelerator(gradient_accumulation_steps=8)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for x, y in loader:
        with accelerator.accumulate(model):
            accelerator.backward(nn.functional.mse_loss(model(x), y))
            optimizer.step()
            optimizer.zero_grad()


def with_deepspeed(net, loader, config):
    engine, _, _, _ = deepspeed.initialize(model=net, model_parameters=net.parameters(), config=config)
    for step, (x, y) in enumerate(loader):
        engine.backward(nn.functional.mse_loss(engine(x), y))
        engine.step()
        if (step + 1) % 8 == 0:
            print(step)


def generator_less_often(generator, critic, opt_g, opt_c, images):
    for i, real in enumerate(images):
        opt_c.zero_grad()
        fake = generator(torch.randn(len(real), 16))
        (critic(fake.detach()).mean() - critic(real).mean()).backward()
        opt_c.step()
        if (i + 1) % 5 == 0:
            opt_g.zero_grad()
            (-critic(fake).mean()).backward()
            opt_g.step()
