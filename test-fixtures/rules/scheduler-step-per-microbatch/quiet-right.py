# Where a scheduler steps with the update, once an epoch, or counts micro-batches.
import torch
from accelerate import Accelerator
from torch import nn
from torch.optim import lr_scheduler
from transformers import get_cosine_schedule_with_warmup

k = 4
epochs = 3
model = nn.Linear(64, 10)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
batches = [(torch.randn(8, 64), torch.randint(10, (8,))) for _ in range(400)]
by_update = get_cosine_schedule_with_warmup(optimizer, 10, len(batches) // k * epochs)
by_epoch = lr_scheduler.StepLR(optimizer, 1)
by_micro_batch = lr_scheduler.OneCycleLR(optimizer, 0.1, epochs=epochs, steps_per_epoch=len(batches))
stretched = get_cosine_schedule_with_warmup(optimizer, 100 * k, 1000 * k)
computed = lr_scheduler.LambdaLR(optimizer, lambda step: 0.99 ** (step // k))
plateau = lr_scheduler.ReduceLROnPlateau(optimizer)


def loss_of(x, y):
    return nn.functional.cross_entropy(model(x), y) / k


def with_the_update():
    for epoch in range(epochs):
        for i, (x, y) in enumerate(batches):
            loss_of(x, y).backward()
            if (i + 1) % k == 0:
                optimizer.step()
                by_update.step()
                optimizer.zero_grad()
        by_epoch.step()


def in_micro_batches():
    for epoch in range(epochs):
        for i, (x, y) in enumerate(batches):
            loss_of(x, y).backward()
            if (i + 1) % k == 0:
                optimizer.step()
                optimizer.zero_grad()
            by_micro_batch.step()
            stretched.step()
            computed.step()


def position_given():
    warm_restarts = lr_scheduler.CosineAnnealingWarmRestarts(optimizer, 10)
    for epoch in range(epochs):
        for i, (x, y) in enumerate(batches):
            loss = loss_of(x, y)
            loss.backward()
            if (i + 1) % k == 0:
                optimizer.step()
                optimizer.zero_grad()
            warm_restarts.step(epoch + i / len(batches))
            plateau.step(loss.item())


def no_accumulation():
    for i, (x, y) in enumerate(batches):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        by_update.step()
        if i % 100 == 0:
            print(i)


def under_its_own_condition():
    for i, (x, y) in enumerate(batches):
        loss_of(x, y).backward()
        if (i + 1) % k == 0:
            optimizer.step()
            optimizer.zero_grad()
        if (i + 1) % (10 * k) == 0:
            by_epoch.step()


def by_epoch_over_micro_batches():
    for epoch in range(epochs):
        for x, y in batches[:k]:
            loss_of(x, y).backward()
        optimizer.step()
        by_epoch.step()
        optimizer.zero_grad()


def prepared(model, optimizer):
    accelerator = Accelerator(gradient_accumulation_steps=4)
    scheduler = lr_scheduler.LinearLR(optimizer)
    model, optimizer, scheduler = accelerator.prepare(model, optimizer, scheduler)
    for x, y in batches:
        with accelerator.accumulate(model):
            accelerator.backward(nn.functional.cross_entropy(model(x), y))
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()


def when_it_synchronizes(model, optimizer):
    accelerator = Accelerator(gradient_accumulation_steps=4)
    scheduler = lr_scheduler.LinearLR(optimizer)
    model, optimizer = accelerator.prepare(model, optimizer)
    for x, y in batches:
        with accelerator.accumulate(model):
            accelerator.backward(nn.functional.cross_entropy(model(x), y))
            optimizer.step()
            if accelerator.sync_gradients:
                scheduler.step()
            optimizer.zero_grad()
