# Every way of switching gradients off.
import contextlib

import torch
from torch import inference_mode, nn, no_grad, set_grad_enabled

model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
val_loader = [(torch.randn(8, 16), torch.randint(4, (8,))) for _ in range(5)]


def lexical():
    model.eval()
    with torch.no_grad():
        return [model(x).argmax(1) for x, _ in val_loader]


@torch.no_grad()
def decorated(net, loader):
    net.eval()
    for x, _ in loader:
        yield net(x)


@torch.no_grad
def decorated_without_brackets(net, loader):
    net.eval()
    return [net(x) for x, _ in loader]


@inference_mode()
def inference(net, loader):
    net.eval()
    return torch.cat([net(x) for x, _ in loader])


def by_set_grad_enabled():
    model.eval()
    with set_grad_enabled(False):
        for x, y in val_loader:
            print((model(x).argmax(1) == y).sum())


def by_statement():
    model.eval()
    previous = torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    scores = [model(x) for x, _ in val_loader]
    torch.set_grad_enabled(previous)
    return scores


def by_exit_stack():
    model.eval()
    with contextlib.ExitStack() as stack:
        stack.enter_context(no_grad())
        return [model(x) for x, _ in val_loader]


def several_contexts():
    model.eval()
    with torch.autocast("cuda"), torch.no_grad():
        for x, _ in val_loader:
            model(x)


def stored_context():
    model.eval()
    context = torch.inference_mode()
    with context:
        for x, _ in val_loader:
            model(x)


class Evaluator:
    def __init__(self, net):
        self.net = net

    @torch.no_grad()
    def run(self, loader):
        self.net.eval()

        def score(batch):
            x, y = batch
            return (self.net(x).argmax(1) == y).float().mean().item()

        return [score(batch) for batch in loader]
