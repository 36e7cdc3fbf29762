# The actor's forward_backward zeroes, its optim_step is called once for all micro-batches: only the last one counts.
# https://github.com/pytorch/torchtitan/pull/3575
import torch
from torch import nn
from torch.nn import functional as F


class PolicyTrainer:
    def __init__(self, model: nn.Module, lr: float):
        self.model = model.cuda()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=lr)

    def forward_backward(self, tokens, advantages, num_micro_batches):
        self.optimizer.zero_grad()  # expect: zero-grad-each-microbatch
        logits = self.model(tokens[:, :-1].cuda())
        logprobs = -F.cross_entropy(logits.transpose(1, 2), tokens[:, 1:].cuda(), reduction="none")
        loss = -(logprobs * advantages.cuda()[:, None]).mean() / num_micro_batches
        loss.backward()
        return loss.item()

    def optim_step(self):
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()


class Controller:
    def __init__(self, model, generator):
        self.trainer = PolicyTrainer(model, lr=1e-6)
        self.generator = generator

    def train(self, num_steps):
        for step in range(num_steps):
            micro_batches = self.generator.episodes()
            for tokens, advantages in micro_batches:
                self.trainer.forward_backward(tokens, advantages, len(micro_batches))
            self.trainer.optim_step()
