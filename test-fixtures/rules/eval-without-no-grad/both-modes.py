"""One function trains or evaluates as a parameter says."""
import torch
from torch import nn

net = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4)).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)


def run_epoch(model, loader, mode="train"):
    total = 0.0
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x.cuda()), y.cuda())
        if mode == "train" or mode == "warm-up":
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        total += loss.item()
    return total


def one_pass(model, loader, step_with=None):
    total = 0.0
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x.cuda()), y.cuda())
        if step_with is not None:
            step_with.zero_grad()
            loss.backward()
            step_with.step()
        total += loss.item()
    return total


def careful(model, loader, training):
    total = 0.0
    for x, y in loader:
        with torch.set_grad_enabled(training):
            loss = nn.functional.cross_entropy(model(x.cuda()), y.cuda())
        if training:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        total += loss.item()
    return total


def apart(model, loader, training):
    total = 0.0
    for x, y in loader:
        if training:
            loss = nn.functional.cross_entropy(model(x.cuda()), y.cuda())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        else:
            with torch.no_grad():
                loss = nn.functional.cross_entropy(model(x.cuda()), y.cuda())
        total += loss.item()
    return total


def with_a_flag(model, loader, optimizer=None):
    training = optimizer is not None
    total = 0.0
    model.train(training)
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x.cuda()), y.cuda())
        if training:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        total += loss.item()
    return total


def with_a_flag_that_changes(model, loader, optimizer=None):
    training = optimizer is not None
    if len(loader) > 100:
        training = True
    total = 0.0
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x.cuda()), y.cuda())
        if training:
            loss.backward()
        total += loss.item()
    return total


def fit(batches, held_out, epochs, mode):
    for epoch in range(epochs):
        net.train()
        run_epoch(net, batches)
        run_epoch(net, batches, "warm-up")
        run_epoch(net, batches, mode)
        one_pass(net, batches, optimizer)
        careful(net, batches, True)
        apart(net, batches, True)
        net.eval()
        print(run_epoch(net, held_out, mode="eval"))  # expect: eval-without-no-grad
        print(one_pass(net, held_out))  # expect: eval-without-no-grad
        with torch.no_grad():
            print(run_epoch(net, held_out, "eval"), one_pass(net, held_out))
        with_a_flag(net, batches, optimizer)
        print(with_a_flag(net, held_out))  # expect: eval-without-no-grad
        print(with_a_flag_that_changes(net, held_out))
        print(careful(net, held_out, False), apart(net, held_out, False))
