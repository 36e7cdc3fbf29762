#!/usr/bin/env python3
"""Floating-point operations of forward, and of what checkpointing computes again: makes flops.json.

    python measure_flops.py > flops.json

torch.utils.flop_counter counts matrix products, convolutions and attention, two for a multiply-add. Shapes are enough:
the models run on FakeTensors. ``checkpointed`` blocks of a module list run under torch.utils.checkpoint without reentry;
what backward computes again is counted by the context that PyTorch enters for it.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import nullcontext

import torch
import torch.nn as nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils.checkpoint import checkpoint
from torch.utils.flop_counter import FlopCounterMode, sdpa_flop_count

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from header import read_header  # noqa: E402
from measure import Spec, factory_from, fakeify, load_file, make_criterion, quick_init  # noqa: E402

BATCH = 2
#: the CPU's attention kernel is not in PyTorch's table, but it computes what the others do
ATTENTION = {torch.ops.aten._scaled_dot_product_flash_attention_for_cpu: lambda query, key, value, *a, **k: sdpa_flop_count(query, key, value)}
#: file -> the model's repeated blocks, and how many of them are checkpointed
CASES: dict[str, tuple[str, int]] = {
    "gpt.py": ("body.layers", 2), "checkpointed.py": ("blocks", 8), "vit_own.py": ("", 0), "resnet.py": ("", 0),
    "lenet5.py": ("", 0), "mobilenetv2.py": ("", 0), "dcgan.py": ("", 0), "unet.py": ("", 0), "convnext.py": ("", 0),
    "llama_like.py": ("", 0), "gru_seq2seq.py": ("", 0), "video3d.py": ("", 0), "shufflenet.py": ("", 0),
    "charcnn.py": ("", 0), "mixer.py": ("", 0), "t5_like.py": ("", 0),
}


def checkpoint_first(blocks: nn.ModuleList, count: int, counters: list[FlopCounterMode]) -> None:
    def contexts():
        counters.append(FlopCounterMode(display=False, custom_mapping=ATTENTION))
        return nullcontext(), counters[-1]

    for block in list(blocks)[:count]:
        forward = block.forward
        block.forward = lambda *a, forward=forward, **k: checkpoint(
            forward, *a, use_reentrant=False, context_fn=contexts, **k)


def measure(file: str, blocks: str, count: int) -> dict:
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "models", file)
    header = read_header(path)
    module = load_file(path)
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    text = header.get("model", [None])[0]
    if file == "checkpointed.py":
        text = text.replace("use_checkpoint=True", "use_checkpoint=False")
    with quick_init():
        model = fakeify(factory_from(module, text, {})(), mode, "cpu", None)
    counters: list[FlopCounterMode] = []
    if count > 0:
        checkpoint_first(model.get_submodule(blocks), count, counters)
    criterion = make_criterion(header.get("loss", ["sum"])[0], module)
    with mode:
        inputs = [Spec.parse(text).make(BATCH, "cpu", torch.float32) for text in header["input"]]
        targets = [Spec.parse(text).make(BATCH, "cpu", torch.float32) for text in header.get("target", [])]
        with FlopCounterMode(display=False, custom_mapping=ATTENTION) as forward:
            out = model(*inputs)
            loss = criterion(out, targets)
        loss.backward()
    again = sum(counter.get_total_flops() for counter in counters)
    return {"model": text, "batch": BATCH, "checkpointed": count, "forward": forward.get_total_flops(), "again": again}


def main() -> None:
    models = {file: measure(file, *case) for file, case in CASES.items()}
    print(json.dumps({"torch": torch.__version__.split("+")[0], "models": models}, indent=1))


if __name__ == "__main__":
    main()
