import torch
from torch import amp


def train(model, loader, optimizer):
    # expect-next: deprecated-amp
    scaler = amp.GradScaler(
        "cuda", init_scale=1024,
    )
    for x, y in loader:
        optimizer.zero_grad()
        with amp.autocast("cuda", enabled=torch.cuda.is_available()):  # expect: deprecated-amp
            loss = torch.nn.functional.mse_loss(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
