"""The graph is walked again: by a later backward, by autograd.grad, by the next iteration."""
import torch
from torch import nn

from project import Memory, log_gradient

generator = nn.Linear(64, 128).cuda()
discriminator = nn.Linear(128, 1).cuda()
recurrent = nn.GRU(64, 64).cuda()
model = nn.Linear(64, 10).cuda()
criterion = nn.BCEWithLogitsLoss()
optimizer_g = torch.optim.Adam(generator.parameters())
optimizer_d = torch.optim.Adam(discriminator.parameters())
optimizer = torch.optim.Adam([*recurrent.parameters(), *model.parameters()])
memory = Memory().cuda()


def adversarial(loader):
    for real in loader:
        fake = generator(torch.randn(32, 64).cuda())
        score = discriminator(fake)
        loss_g = criterion(score, torch.ones_like(score))
        loss_d = criterion(score, torch.zeros_like(score))
        optimizer_g.zero_grad()
        loss_g.backward(retain_graph=True)
        optimizer_d.zero_grad()
        loss_d.backward()
        optimizer_g.step()
        optimizer_d.step()


def with_penalty(loader):
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        norms = torch.autograd.grad(loss, list(model.parameters()))
        print(sum(n.norm().item() for n in norms))
        optimizer.step()


def one_graph_many_times(x, y):
    outputs = model(x)
    for index in range(10):
        optimizer.zero_grad()
        outputs[0, index].backward(retain_graph=True)


def carried_state(loader):
    state = None
    for x, y in loader:
        # The state still hangs on the graph of the batch before.
        out, state = recurrent(x, state)  # expect: hidden-state-not-detached
        loss = nn.functional.cross_entropy(model(out[-1]), y)
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        optimizer.step()


class Stateful(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.Linear(64, 64)
        self.state = torch.zeros(64)

    def forward(self, x):
        self.state = torch.tanh(self.cell(x) + self.state)
        return self.state


def state_in_module(loader):
    net = Stateful().cuda()
    for x in loader:
        loss = net(x).mean()
        loss.backward(retain_graph=True)


def unknown_module(loader):
    for x in loader:
        loss = memory(x).mean()
        loss.backward(retain_graph=True)


def hidden_second_walk(loader):
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward(retain_graph=True)
        log_gradient(loss)
