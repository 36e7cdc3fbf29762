#!/usr/bin/env python3
"""What losses, and kernels that resize what they return, really allocate: the allocator's events on real CPU tensors, which see
inside kernels. Makes allocated.json.

    python measure_allocated.py > allocated.json      # any PyTorch

Float inputs are views of leaves that require a gradient.  All figures are bytes, of tensors that the call allocates:
  forward   highest while the result is computed
  kept      what is left of it: the storage of the result and what the graph keeps
  result    the storage of the result alone
  backward  highest while backward runs, above what was there before it; the gradient of the result is not counted

Scalars that the CPU's reductions allocate on their way are in it (up to 32 bytes).
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.profiler import ProfilerActivity, profile

from generate import dump
from measure import Spec

PAIR = ["float32[32,20]", "float32[32,20]"]
CONSTANT = "F.{}(a, b.detach(), reduction='{}')"
TRAINED = "F.{}(a, b, reduction='{}')"
POINTWISE = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")

CASES: list[tuple[str, list[str]]] = [
    *[(CONSTANT.format(op, reduction), PAIR) for reduction in ("mean", "sum", "none") for op in
      (*POINTWISE, "soft_margin_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits")],
    *[(TRAINED.format(op, reduction), PAIR) for reduction in ("mean", "none") for op in
      (*POINTWISE, "binary_cross_entropy", "binary_cross_entropy_with_logits")],
    *[(CONSTANT.format(op, "mean"), ["float32[32,20]", "float32[1,20]"]) for op in POINTWISE],
    # columns that overlap, that tile, and that leave gaps
    *[(f"F.fold(a, (16, 16), {options})", [columns]) for options, columns in (
        ("3, padding=1", "float32[2,72,256]"), ("3, padding=1", "float32[72,256]"), ("2, stride=2", "float32[2,32,64]"),
        ("2, stride=4", "float32[2,32,16]"), ("4, stride=2, padding=1", "float32[2,128,64]"))],
    *[(f"F.unfold({image}, {options})", ["float32[2,8,16,16]"]) for image in ("a", "a.transpose(2, 3)") for options in
      ("3, padding=1", "2, stride=2", "2, stride=4", "3, dilation=2, stride=2")],
    ("F.unfold(a, 3, padding=1)", ["float32[8,16,16]"]),
    ("nn.Fold((16, 16), 3, padding=1)(nn.Unfold(3, padding=1)(a))", ["float32[2,8,16,16]"]),
    ("F.binary_cross_entropy(a, b.detach(), weight=torch.ones(20))", PAIR),
    ("F.binary_cross_entropy_with_logits(a, b.detach(), weight=torch.ones(20))", PAIR),
    ("F.binary_cross_entropy_with_logits(a, b.detach(), pos_weight=torch.ones(20))", PAIR),
    ("F.binary_cross_entropy_with_logits(a, b, pos_weight=torch.ones(20))", PAIR),
    ("nn.MSELoss()(a, b.detach()).detach()", PAIR),
    ("F.mse_loss(a, b.detach()) + F.l1_loss(a, b.detach())", PAIR),
]


def allocated(run: Callable[[], Any]) -> tuple[Any, int, int]:
    """The result of a call, the highest bytes during it, and what is left."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        result = run()
    events = [e for e in profiler.profiler.kineto_results.events() if e.name() == "[memory]"]
    live = top = 0
    for event in sorted(events, key=lambda e: e.start_ns()):
        live += event.nbytes()
        top = max(top, live)
    return result, top, live


def measure(call: str, specs: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for _ in range(2):  # the first call loads what is loaded once
        leaves = [Spec.parse(s).make(2, "cpu", torch.float32) for s in specs]
        inputs = [t.requires_grad_().view_as(t) for t in leaves]
        space = {"torch": torch, "nn": nn, "F": F, **dict(zip("abc", inputs))}
        result, forward, kept = allocated(lambda: eval(call, space))  # noqa: S307 - our own table
        found = {"forward": forward, "kept": kept, "result": result.untyped_storage().nbytes()}
        if result.requires_grad:
            gradient = torch.ones_like(result)
            _, found["backward"], _ = allocated(lambda: result.backward(gradient))
    return found


def main() -> None:
    warnings.filterwarnings("ignore")
    rows = [{"call": call, "inputs": specs, **measure(call, specs)} for call, specs in CASES]
    about = {"what": "bytes that losses, fold and unfold allocate on real CPU tensors", "torch": torch.__version__.split("+")[0]}
    sys.stdout.write(dump({"about": about, "calls": rows}, depth=2) + "\n")


if __name__ == "__main__":
    main()
