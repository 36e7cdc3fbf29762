#!/usr/bin/env python3
"""Options of torch.optim's optimizers: bytes of the state and of step()'s temporaries, on fake CUDA tensors.

    python measure_optimizer_options.py > optimizer_options.json

Every combination of the options below with the foreach, fused and single kernels, for parameters that differ in size,
dtype and rank.  A case is ``[state, temporary]``: bytes kept on the parameters' device, and the highest live bytes inside
one step() beyond parameters, gradients and state.  Eight steps come before: RAdam rectifies from the sixth on.  Where a step
reads its data (masks, ``.item()``) or the fused kernel has no fake one, real CPU tensors are measured; what such a case
keeps in scalars that CUDA tensors have on the host is left out.  ``capturable`` is let through for them.
"""

from __future__ import annotations

import itertools
import sys
import warnings
from typing import Any, Iterator
from unittest import mock

import torch
import torch.nn as nn
from torch._subclasses.fake_tensor import FakeTensorMode

from generate import dump
from measure import LiveBytes

Options = dict[str, Any]
Shape = tuple[tuple[int, ...], torch.dtype]

LAYOUTS: dict[str, list[Shape]] = {
    "uneven": [((32, 32), torch.float32), ((256, 256), torch.float32), ((128, 256), torch.float32), ((32,), torch.float32)],
    "mixed": [((128, 64), torch.bfloat16), ((256, 256), torch.float32), ((64, 32), torch.float32), ((256, 128), torch.bfloat16)],
    "ranks": [((64, 32, 3, 3), torch.float32), ((64,), torch.float32), ((), torch.float32), ((128, 64, 1, 1), torch.float32)],
}
WARM_UP = 8

DECAY: Options = {"weight_decay": 1e-2}
DECOUPLED: Options = {**DECAY, "decoupled_weight_decay": True}
MAXIMIZE: list[Options] = [{}, {"maximize": True}]
CAPTURABLE: list[Options] = [{}, {"capturable": True}]
AXES: dict[str, list[list[Options]]] = {
    "SGD": [[{}, {"momentum": 0.9}, {"momentum": 0.9, "nesterov": True}], [{}, DECAY], MAXIMIZE],
    "Adam": [[{}, {"amsgrad": True}], [{}, DECAY, DECOUPLED], MAXIMIZE, CAPTURABLE],
    "AdamW": [[{}, {"amsgrad": True}], [{}, {"weight_decay": 0.0}], MAXIMIZE, CAPTURABLE],
    "NAdam": [[{}, DECAY, DECOUPLED], MAXIMIZE, CAPTURABLE],
    "RAdam": [[{}, DECAY, DECOUPLED], MAXIMIZE, CAPTURABLE],
    "Adamax": [[{}, DECAY], MAXIMIZE, CAPTURABLE],
    "Adagrad": [[{}, DECAY], MAXIMIZE],
    "Adadelta": [[{}, DECAY], MAXIMIZE, CAPTURABLE],
    "RMSprop": [[{}, {"momentum": 0.9}, {"centered": True}, {"centered": True, "momentum": 0.9}], [{}, DECAY], MAXIMIZE, CAPTURABLE],
    "Rprop": [MAXIMIZE, CAPTURABLE],
    "ASGD": [[{}, DECAY], MAXIMIZE, CAPTURABLE],
    "Adafactor": [[{}, DECAY], MAXIMIZE],
    "Muon": [[{}, {"nesterov": False}]],
}
KERNELS: dict[str, Options] = {"foreach": {"foreach": True}, "fused": {"fused": True}, "single": {"foreach": False}}
WITH_FUSED = {"SGD", "Adam", "AdamW", "Adagrad"}


class LiveOnDevice(LiveBytes):
    """Counts the storages of one device."""

    def __init__(self, device: str) -> None:
        super().__init__()
        self.device = device

    def watch(self, tensor: torch.Tensor, op: str, least: int = 0) -> None:
        if tensor.device.type == self.device:
            super().watch(tensor, op, least)


def state_tensors(optimizer: torch.optim.Optimizer, device: str) -> list[torch.Tensor]:
    values = (value for state in optimizer.state.values() for value in state.values())
    return [value for value in values if torch.is_tensor(value) and value.device.type == device]


def one(kind: str, options: Options, shapes: list[Shape], device: str, keeps_scalars: bool) -> list[int]:
    params = [nn.Parameter(torch.ones(shape, dtype=dtype, device=device)) for shape, dtype in shapes]
    optimizer = getattr(torch.optim, kind)(params, lr=1e-2, **options)
    for step in range(WARM_UP + 1):
        for param in params:
            param.grad = torch.ones_like(param)
        if step < WARM_UP:
            optimizer.step()
    kept = state_tensors(optimizer, device)
    live = LiveOnDevice(device)
    for tensor in [*params, *(param.grad for param in params), *kept]:
        live.watch(tensor, "resident")
    base = live.live
    live.phase = "step"
    with live:
        optimizer.step()
    scalars = {id(state[name]) for state in optimizer.state.values() for name in ("step", "mu_product") if name in state}
    counted = [tensor for tensor in kept if keeps_scalars or id(tensor) not in scalars]
    return [sum(tensor.untyped_storage().nbytes() for tensor in counted), max(0, live.peak.get("step", base) - base)]


def measured(kind: str, kernel: str, options: Options, shapes: list[Shape]) -> list[int]:
    try:
        with FakeTensorMode(allow_non_fake_inputs=True):
            return one(kind, options, shapes, "cuda", True)
    except (RuntimeError, AssertionError):
        module = sys.modules[getattr(torch.optim, kind).step.__module__]  # AdamW has Adam's
        keeps_scalars = kernel == "fused" or kind == "ASGD" or bool(options.get("capturable"))
        with mock.patch.object(module, "_get_capturable_supported_devices", lambda **_: ["cpu"], create=True):
            return one(kind, options, shapes, "cpu", keeps_scalars)


def cases() -> Iterator[tuple[str, Options, str]]:
    for kind, axes in AXES.items():
        for parts in itertools.product(*axes):
            options = {name: value for part in parts for name, value in part.items()}
            for kernel in KERNELS:
                if (kernel == "fused" and kind not in WITH_FUSED) or (kind == "Muon" and kernel != "single"):
                    continue
                yield kind, options, kernel


def main() -> None:
    warnings.filterwarnings("ignore")
    layouts = {name: [[list(shape), str(dtype).removeprefix("torch.")] for shape, dtype in shapes] for name, shapes in LAYOUTS.items()}
    report: list[dict[str, Any]] = []
    for kind, options, kernel in cases():
        entry: dict[str, Any] = {"optimizer": kind, "arguments": options, "kernel": kernel}
        for name, shapes in LAYOUTS.items():
            if kind == "Muon" and any(len(shape) != 2 for shape, _ in shapes):
                continue
            entry[name] = measured(kind, kernel, options if kind == "Muon" else {**options, **KERNELS[kernel]}, shapes)
        report.append(entry)
    print(dump({"about": {"torch": torch.__version__}, "layouts": layouts, "cases": report}, depth=2))


if __name__ == "__main__":
    main()
