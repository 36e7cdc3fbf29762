import argparse

import torch
from torch import nn
from torch.amp import GradScaler, autocast
from tqdm import tqdm


class Trainer:
    def __init__(self, args, model):
        self.args = args
        self.model = model.cuda()
        self.opt = torch.optim.AdamW(self.model.parameters(), lr=args.lr)
        self.scaler = GradScaler("cuda")

    def fit(self, loader):
        self.model.train()
        for step, batch in enumerate(tqdm(loader), 1):
            self.opt.zero_grad(set_to_none=True)  # expect: zero-grad-each-microbatch
            with autocast("cuda"):
                loss = self.loss(batch.cuda()) / self.args.grad_accum
            self.scaler.scale(loss).backward()
            if step % self.args.grad_accum == 0:  # expect: accumulation-last-group
                self.scaler.step(self.opt)
                self.scaler.update()

    def loss(self, batch):
        return nn.functional.mse_loss(self.model(batch), batch)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=1e-4)
    parser.add_argument("--grad-accum", type=int, default=16)
    Trainer(parser.parse_args(), nn.Linear(64, 64)).fit(torch.randn(1024, 4, 64))
