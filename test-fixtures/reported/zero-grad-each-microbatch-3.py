# A trainer in two methods: forward_backward zeroes, and is called for every micro-batch of one step.
import torch
from torch import nn


class PolicyTrainer:
    def __init__(self, model, micro_batches):
        self.model = model
        self.micro_batches = micro_batches
        self.optimizer = torch.optim.AdamW(model.parameters())

    def forward_backward(self, tokens):
        self.optimizer.zero_grad()  # expect: zero-grad-each-microbatch
        logits = self.model(tokens[:, :-1])
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        (loss / self.micro_batches).backward()
        return loss.item()

    def train(self, steps):
        for step in range(steps):
            total = 0.0
            for micro_batch in torch.randint(100, (self.micro_batches, 4, 33)):
                total += self.forward_backward(micro_batch)
            self.optimizer.step()
            print(step, total / self.micro_batches)


PolicyTrainer(nn.Sequential(nn.Embedding(100, 64), nn.Linear(64, 100)), micro_batches=8).train(100)
