# A loss that is summed over samples or heads in a loop of its own is no mean over the micro-batch, and with one
# micro-batch a step there is nothing to divide by.
import torch
from torch import nn

from data import loader, other_loader

model = nn.Linear(16, 4).cuda()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

STEPS = 1


class CFG:
    gradient_accumulation_steps = 1
    accumulate = 8


def summed_over_samples():
    n = 0
    for tokens, labels in loader:
        logits = model(tokens.cuda())
        loss = 0
        for i in range(len(logits)):
            loss += criterion(logits[i], labels[i])
        loss.backward()
        n += 1
        if n == 8:  # expect: accumulation-last-group
            optimizer.step()
            optimizer.zero_grad()
            n = 0


def summed_over_heads(heads, k=4):
    for step, (x, y) in enumerate(loader):
        loss = torch.zeros((), device="cuda")
        for head in heads:
            loss = loss + criterion(head(model(x)), y)
        loss.backward()
        if (step + 1) % k == 0:  # expect: accumulation-last-group
            optimizer.step()
            optimizer.zero_grad()


def one_at_a_time():
    for step, (x, y) in enumerate(other_loader):
        criterion(model(x), y).backward()
        if (step + 1) % STEPS == 0:
            optimizer.step()
            optimizer.zero_grad()


def one_at_a_time_by_class():
    for step, (x, y) in enumerate(other_loader):
        criterion(model(x), y).backward()
        if (step + 1) % CFG.gradient_accumulation_steps == 0:
            optimizer.step()
            optimizer.zero_grad()


def several_by_class():
    for step, (x, y) in enumerate(other_loader):
        loss = criterion(model(x), y)
        loss.backward()  # expect: accumulation-loss-not-scaled
        if (step + 1) % CFG.accumulate == 0:  # expect: accumulation-last-group
            optimizer.step()
            optimizer.zero_grad()
