"""Detached, made anew, or one backward for the whole sequence."""
import torch
from torch import nn
from torch.autograd import Variable

from project import OtherModel

rnn = nn.GRU(64, 128).cuda()
lstm = nn.LSTM(64, 128).cuda()
other = OtherModel().cuda()
optimizer = torch.optim.Adam([*rnn.parameters(), *lstm.parameters()])


def repackage(state):
    if isinstance(state, torch.Tensor):
        return state.detach()
    return tuple(repackage(part) for part in state)


def detached_at_the_start(chunks, hidden):
    for x in chunks:
        hidden = hidden.detach()
        out, hidden = rnn(x, hidden)
        optimizer.zero_grad()
        out.mean().backward()
        optimizer.step()


def detached_at_the_end(chunks, hidden):
    for x in chunks:
        out, hidden = lstm(x, hidden)
        loss = out.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        hidden = tuple([part.data for part in hidden])


def by_helper(chunks, hidden):
    for x in chunks:
        hidden = repackage(hidden)
        out, hidden = lstm(x, hidden)
        loss = out.mean()
        loss.backward()


def in_the_call(chunks, hidden, h, c):
    for x in chunks:
        out, hidden = rnn(x, hidden.detach())
        loss = out.mean()
        loss.backward()
        out, hidden = rnn(x, Variable(hidden.data))
        loss = out.mean()
        loss.backward()
        out, (h, c) = lstm(x, (h.detach(), c.detach()))
        loss = out.mean()
        loss.backward()


def in_place(chunks, hidden, state):
    for x in chunks:
        out, hidden = rnn(x, hidden)
        loss = out.mean()
        loss.backward()
        hidden.detach_()
    for x in chunks:
        out, state = lstm(x, state)
        loss = out.mean()
        loss.backward()
        for part in state:
            part.detach_()


def one_sequence(sequences):
    for sequence in sequences:
        hidden = torch.zeros(1, 20, 128)
        loss = 0
        for x in sequence:
            out, hidden = rnn(x, hidden)
            loss = loss + out.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def new_for_each_batch(batches):
    for x in batches:
        hidden = None
        out, hidden = rnn(x, hidden)
        loss = out.mean()
        loss.backward()


def sometimes_new(batches, hidden):
    for i, x in enumerate(batches):
        if i % 10 == 0:
            hidden = torch.zeros(1, 20, 128)
        out, hidden = rnn(x, hidden)
        loss = out.mean()
        loss.backward()


def other_variable(batches, hidden):
    for x in batches:
        out, last = rnn(x, hidden)
        loss = out.mean() + last.mean()
        loss.backward()


def unknown_model(batches, hidden):
    for x in batches:
        out, hidden = other(x, hidden)
        loss = out.mean()
        loss.backward()


def no_backward(batches, hidden):
    with torch.no_grad():
        for x in batches:
            out, hidden = rnn(x, hidden)
    return hidden


class Masked(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(64, 64)

    def forward(self, x, mask):
        out, _ = self.gru(x)
        return out * mask, mask


def given_back_as_it_is(batches):
    model = Masked()
    mask = torch.ones(64)
    for x in batches:
        out, mask = model(x, mask)
        loss = out.mean()
        loss.backward()
