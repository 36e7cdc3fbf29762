# Each arm has an update of its own; in the accumulating one, clipping unscales on every micro-batch.
import torch
from torch.cuda import amp
from project import build_loader, build_model, build_optimizer, get_grad_norm


def main(config):
    loader = build_loader(config)
    model = torch.nn.parallel.DistributedDataParallel(build_model(config).cuda())
    optimizer = build_optimizer(config, model)
    scaler = amp.GradScaler()  # expect: deprecated-amp
    for epoch in range(config.EPOCHS):
        train_one_epoch(config, model, loader, optimizer, scaler)


def train_one_epoch(config, model, loader, optimizer, scaler):
    model.train()
    optimizer.zero_grad()
    for idx, (img, mask) in enumerate(loader):
        with torch.autocast("cuda", enabled=config.ENABLE_AMP):
            loss = model(img.cuda(), mask.cuda())
        if config.ACCUMULATION_STEPS > 1:
            loss = loss / config.ACCUMULATION_STEPS
            scaler.scale(loss).backward()
            if config.CLIP_GRAD:
                scaler.unscale_(optimizer)  # expect: scaler-step-per-microbatch
                grad_norm = torch.nn.utils.clip_grad_norm_(model.parameters(), config.CLIP_GRAD)
            else:
                grad_norm = get_grad_norm(model.parameters())
            if (idx + 1) % config.ACCUMULATION_STEPS == 0:
                scaler.step(optimizer)
                optimizer.zero_grad()
                scaler.update()
        else:
            optimizer.zero_grad()
            scaler.scale(loss).backward()
            if config.CLIP_GRAD:
                scaler.unscale_(optimizer)
                grad_norm = torch.nn.utils.clip_grad_norm_(model.parameters(), config.CLIP_GRAD)
            scaler.step(optimizer)
            scaler.update()
        print(idx, grad_norm)
