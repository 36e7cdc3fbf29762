# Gradients clamped one by one, as before clip_grad_value_ was known, after AMP was added to the loop.
import torch
from torch.amp import GradScaler, autocast
def train(model, loader, opt):
    scaler = GradScaler("cuda")
    for x, y in loader:
        opt.zero_grad()
        with autocast("cuda"):
            loss = torch.nn.functional.cross_entropy(model(x.cuda()), y.cuda())
        scaler.scale(loss).backward()
        for p in model.parameters():
            if p.grad is not None:
                p.grad.clamp_(-1, 1)  # expect: clip-without-unscale
        scaler.step(opt)
        scaler.update()
