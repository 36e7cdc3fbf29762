# The schedule is laid out for updates, and stepped in the loop over batches; mixed precision beside plain fp32.
import torch
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingLR


def run_train(cfg, model, train_dataloader, optimizer):
    scaler = torch.amp.GradScaler("cuda", enabled=cfg.mixed_precision)
    epoch_steps = len(train_dataloader)
    scheduler = CosineAnnealingLR(optimizer, T_max=cfg.epochs * epoch_steps // cfg.grad_accumulation)
    optimizer.zero_grad(set_to_none=True)
    for epoch in range(cfg.epochs):
        tr_it = iter(train_dataloader)
        for itr, data in enumerate(tr_it):
            with torch.autocast("cuda", enabled=cfg.mixed_precision):
                loss = model(data).mean()
            if cfg.grad_accumulation != 1:
                loss = loss / cfg.grad_accumulation
            if cfg.mixed_precision:
                scaler.scale(loss).backward()
                if itr % cfg.grad_accumulation == cfg.grad_accumulation - 1:  # expect: accumulation-last-group
                    scaler.unscale_(optimizer)
                    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                    scaler.step(optimizer)
                    scaler.update()
                    optimizer.zero_grad(set_to_none=True)
            else:
                loss.backward()
                if itr % cfg.grad_accumulation == cfg.grad_accumulation - 1:
                    optimizer.step()
                    optimizer.zero_grad(set_to_none=True)
            scheduler.step()  # expect: scheduler-step-per-microbatch
