# An executor of a keyword spotter: gradients are clipped, the step is taken, nothing is zeroed.
import logging
import math

import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_


class Executor:
    def __init__(self):
        self.step = 0

    def train(self, model, optimizer, data_loader, device, args):
        model.train()
        clip = args.get("grad_clip", 50.0)
        for batch_idx, (feats, target) in enumerate(data_loader):
            feats, target = feats.to(device), target.to(device)
            logits = model(feats)
            loss = nn.functional.cross_entropy(logits, target)
            loss.backward()
            grad_norm = clip_grad_norm_(model.parameters(), clip)
            if math.isfinite(grad_norm):
                optimizer.step()  # expect: missing-zero-grad
            if batch_idx % 10 == 0:
                logging.info("batch %d loss %.4f", batch_idx, loss.item())
            self.step += 1


model = nn.Sequential(nn.Flatten(), nn.Linear(40 * 50, 12))
batches = [(torch.randn(16, 50, 40), torch.randint(12, (16,))) for _ in range(50)]
Executor().train(model, torch.optim.Adam(model.parameters()), batches, "cpu", {})
