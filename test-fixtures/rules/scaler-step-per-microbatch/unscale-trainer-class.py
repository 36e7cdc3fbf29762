import argparse

import torch
from torch import nn
from torch.cuda import amp
from tqdm import tqdm


class Trainer:
    def __init__(self, args, model):
        self.args = args
        self.model = model.cuda()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=args.lr)
        self.scaler = amp.GradScaler(enabled=args.fp16)  # expect: deprecated-amp

    def fit(self, loader):
        self.model.train()
        for step, batch in enumerate(tqdm(loader), 1):
            with torch.autocast("cuda", enabled=self.args.fp16):
                loss = self.model(batch.cuda()).square().mean()
            self.scaler.scale(loss / self.args.accumulate).backward()
            self.scaler.unscale_(self.optimizer)  # expect: scaler-step-per-microbatch
            if step % self.args.accumulate:  # expect: accumulation-last-group
                continue
            self.update()

    def update(self):
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad(set_to_none=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=1e-2)
    parser.add_argument("--accumulate", type=int, default=8)
    parser.add_argument("--fp16", action="store_true")
    Trainer(parser.parse_args(), nn.Linear(64, 64)).fit(torch.randn(1000, 4, 64).split(1))
