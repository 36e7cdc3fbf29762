import torch
from torch import nn
from torch.amp import GradScaler, autocast

USE_AMP = True


class Trainer:
    def __init__(self, model, lr):
        self.model = model
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
        self.scaler = GradScaler("cuda", enabled=USE_AMP)  # expect: deprecated-amp

    def step(self, x, y):
        self.optimizer.zero_grad(set_to_none=True)
        with autocast("cuda", enabled=USE_AMP, dtype=torch.float16):  # expect: deprecated-amp
            loss = nn.functional.mse_loss(self.model(x), y)
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()
        return loss.detach()

    @autocast("cuda")  # expect: deprecated-amp
    def features(self, x):
        return self.model(x)
