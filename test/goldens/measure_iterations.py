#!/usr/bin/env python3
"""Memory of whole training iterations: runs every script of iterations/ as it is and makes iterations.json.

    python measure_iterations.py > iterations.json            # any PyTorch, real CPU tensors
    python measure_iterations.py iterations/dcgan.py          # one script, printed

Definitions are those of README.md, with these differences: the iteration is the script's own, and `peak` holds the highest
live bytes of every phase over all iterations that begin after the optimizer that stepped first has stepped twice. What a
DataLoader does before it hands over its batch is no phase.
"""
import contextlib
import gc
import io
import json
import os
import runpy
import sys
import warnings
from pathlib import Path

import torch
from torch import nn
from torch.optim import optimizer as optim
from torch.utils._pytree import tree_flatten
from torch.utils.data import dataloader

from measure import LiveBytes, Saver, pretend_graph_task, run_backward, storages


class Live(LiveBytes):
    """A peak is noted where an operator has allocated: `loss.item()` behind a backward makes no forward's peak."""

    allocated = False

    def note_peak(self, op):
        if self.allocated:
            super().note_peak(op)
        self.allocated = False

    def watch(self, tensor, op, least=0):
        before = self.live
        super().watch(tensor, op, least)
        self.allocated |= self.live != before


class Window:
    """What is measured of one script."""

    def __init__(self, tracker):
        self.tracker = tracker
        self.first = None
        self.steps = 0
        self.gradients = 0
        self.optimizers = []

    @property
    def is_open(self):
        return self.steps >= 2

    def stepped(self, optimizer):
        self.first = self.first or optimizer
        if optimizer is not self.first or self.is_open:
            return
        self.steps += 1
        if self.is_open:
            self.tracker.peak.clear()
            self.gradients = 0
            self.models = described_models()

    def after_backward(self):
        grads = [p.grad for p in objects(nn.Parameter) if p.grad is not None]
        self.gradients = max(self.gradients, sum(storages(grads).values()))


def objects(kind):
    return [each for each in gc.get_objects() if type(each) is kind or isinstance(each, kind)]


@contextlib.contextmanager
def patched(owner, name, value):
    original = getattr(owner, name)
    setattr(owner, name, value(original))
    try:
        yield
    finally:
        setattr(owner, name, original)


@contextlib.contextmanager
def phase(tracker, name):
    outer, tracker.phase = tracker.phase, name
    try:
        yield
    finally:
        tracker.phase = outer


def measure(script):
    tracker = Live()
    tracker.phase = "forward"
    window = Window(tracker)
    saver = Saver(nn.Module())

    def backward(original):
        def run(loss, gradient=None, retain_graph=None, create_graph=False, inputs=None):
            with phase(tracker, "backward"):
                run_backward(loss, saver, tracker, bool(retain_graph))
            window.after_backward()

        return run

    def following(original):
        def run(iterator):
            with phase(tracker, "data"):
                return original(iterator)

        return run

    def made(original):
        def run(optimizer, params, defaults):
            # what CUDA tensors get by default
            if "foreach" in defaults and defaults["foreach"] is None and not defaults.get("fused"):
                defaults["foreach"] = True
            original(optimizer, params, defaults)
            window.optimizers.append(optimizer)

        return run

    stack = []

    def in_forward(closure):
        if not callable(closure):
            return closure

        def run():
            with phase(tracker, "forward"):
                return closure()

        return run

    def before(optimizer, args, kwargs):
        stack.append(tracker.phase)
        tracker.phase = "step"
        tracker.allocated = True
        tracker.note_peak("step")
        return tuple(map(in_forward, args)), {name: in_forward(value) for name, value in kwargs.items()}

    def after(optimizer, args, kwargs):
        tracker.phase = stack.pop()
        window.stepped(optimizer)

    hooks = [optim.register_optimizer_step_pre_hook(before), optim.register_optimizer_step_post_hook(after)]
    torch.manual_seed(0)
    with (
        contextlib.redirect_stdout(io.StringIO()),
        patched(torch.Tensor, "backward", backward),
        patched(dataloader._BaseDataLoaderIter, "__next__", following),
        patched(torch.optim.Optimizer, "__init__", made),
        pretend_graph_task("python"),
        saver,
        tracker,
    ):
        kept = runpy.run_path(str(script), run_name="__main__")
    for hook in hooks:
        hook.remove()
    return kept, described(window)


def described_models():
    modules = objects(nn.Module)
    parameters = list({id(p): p for m in modules for p in m._parameters.values() if p is not None}.values())
    buffers = [b for m in modules for b in m._buffers.values() if b is not None]
    return {
        "param_bytes": sum(storages(parameters).values()),
        "params": sum(p.numel() for p in parameters),
        "buffer_bytes": sum(storages(buffers).values()),
    }


def described(window):
    states = [
        tensor
        for optimizer in window.optimizers
        for tensor in tree_flatten(list(optimizer.state.values()))[0]
        if isinstance(tensor, torch.Tensor)
    ]
    counters = sum(storages([t for t in states if t.dim() == 0]).values())
    parameters = [p for optimizer in window.optimizers for group in optimizer.param_groups for p in group["params"]]
    known = {**storages(parameters), **storages([p.grad for p in parameters if p.grad is not None])}
    own = {key: size for key, size in storages([t for t in states if t.dim() > 0]).items() if key not in known}
    return {
        **window.models,
        "gradient_bytes": window.gradients,
        "state_bytes": sum(own.values()),
        "peak": {name: window.tracker.peak[name] - counters for name in ("forward", "backward", "step")},
    }


def measured_alone(script):
    """In a process of its own: what scripts leave behind must not be counted twice."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        kept, result = measure(script)
        with os.fdopen(write, "w") as out:
            json.dump(result, out)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as answer:
        text = answer.read()
    os.waitpid(pid, 0)
    if not text:
        raise SystemExit(f"{script} failed")
    return json.loads(text)


def main(names):
    folder = Path(__file__).parent / "iterations"
    scripts = [Path(name) for name in names] or sorted(folder.glob("*.py"))
    torch.set_num_threads(1)
    result = {script.name: measured_alone(script.resolve()) for script in scripts}
    json.dump({"torch": torch.__version__.split("+")[0], "scripts": result}, sys.stdout, indent=1)
    print()


warnings.filterwarnings("ignore")
main(sys.argv[1:])
