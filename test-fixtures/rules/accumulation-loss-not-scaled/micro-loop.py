import itertools

import torch
from torch import nn
from torch.nn import functional as F

config = {"micro_batches": 8, "lr": 3e-4, "steps": 500}


class TinyLM(nn.Module):
    def __init__(self, vocabulary=256, width=64):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, tokens):
        return self.head(self.embed(tokens))


def compute_loss(model, tokens):
    logits = model(tokens[:, :-1])
    return F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())


def main():
    model = TinyLM()
    optimizer = torch.optim.AdamW(model.parameters(), lr=config["lr"])
    stream = itertools.cycle(torch.randint(256, (64, 4, 65)))
    grad_accum_steps = config["micro_batches"]
    for step in range(config["steps"]):
        optimizer.zero_grad(set_to_none=True)
        for micro_step in range(grad_accum_steps):
            loss = compute_loss(model, next(stream))
            loss.backward()  # expect: accumulation-loss-not-scaled
        optimizer.step()
        if step % 50 == 0:
            print(step, loss.item())


main()
