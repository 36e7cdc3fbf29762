# Pretraining that resets nothing: the resets that follow are those of another loop.
import torch
from torch import nn


def pretrain_then_train(batches):
    words = nn.Linear(300, 100)
    tagger = nn.Linear(300, 9)
    pretraining = torch.optim.SGD(words.parameters(), lr=0.01)
    optimizer = torch.optim.SGD(tagger.parameters(), lr=0.01)
    for epoch in range(3):
        for batch in batches:
            words(batch).pow(2).mean().backward()
            pretraining.step()  # expect: missing-zero-grad
    for epoch in range(10):
        for batch in batches:
            tagger.zero_grad()
            tagger(batch).logsumexp(1).mean().backward()
            optimizer.step()
