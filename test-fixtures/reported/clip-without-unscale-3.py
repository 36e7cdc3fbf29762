# https://github.com/TorchSSL/TorchSSL/pull/59: clipping behind an option, both with and without AMP.
from contextlib import nullcontext

import torch
from torch.amp import GradScaler, autocast


class FixMatch:
    def __init__(self, model, loader_dict, optimizer, scheduler):
        self.model = model
        self.loader_dict = loader_dict
        self.optimizer = optimizer
        self.scheduler = scheduler

    def train(self, args):
        self.model.train()
        scaler = GradScaler("cuda")
        amp_cm = autocast if args.amp else nullcontext
        for x_lb, y_lb in self.loader_dict["train_lb"]:
            x_lb, y_lb = x_lb.cuda(args.gpu), y_lb.cuda(args.gpu)
            with amp_cm("cuda"):
                total_loss = torch.nn.functional.cross_entropy(self.model(x_lb), y_lb)
            if args.amp:
                scaler.scale(total_loss).backward()
                if args.clip > 0:
                    # expect-next: clip-without-unscale
                    torch.nn.utils.clip_grad_norm_(self.model.parameters(), args.clip)
                scaler.step(self.optimizer)
                scaler.update()
            else:
                total_loss.backward()
                if args.clip > 0:
                    torch.nn.utils.clip_grad_norm_(self.model.parameters(), args.clip)
                self.optimizer.step()
            self.scheduler.step()
            self.model.zero_grad()
