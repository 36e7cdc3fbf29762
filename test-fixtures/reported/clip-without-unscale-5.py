# Lip reading recipe: the line that unscales is there, as a comment.
# https://github.com/k2-fsa/icefall/pull/2081
import torch
from torch.amp import GradScaler, autocast


def train_one_epoch(params, model, optimizer, scheduler, train_dl, scaler: GradScaler):
    model.train()
    for batch_idx, batch in enumerate(train_dl):
        with autocast("cuda", enabled=params.use_fp16):
            loss = model(batch["inputs"].cuda(), batch["targets"].cuda())
        scaler.scale(loss).backward()
        # scaler.unscale_(optimizer)
        grad_norm = torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)  # expect: clip-without-unscale
        scheduler.step_batch(params.batch_idx_train)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        if batch_idx % 50 == 0:
            print(loss.item(), grad_norm.item())


def run(params, model, train_dl, scheduler_class):
    model.to("cuda")
    optimizer = torch.optim.AdamW(model.parameters(), lr=params.lr)
    scheduler = scheduler_class(optimizer)
    scaler = GradScaler("cuda", enabled=True, init_scale=1.0)
    for epoch in range(params.num_epochs):
        train_one_epoch(params, model, optimizer, scheduler, train_dl, scaler)
