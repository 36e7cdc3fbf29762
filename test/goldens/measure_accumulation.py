#!/usr/bin/env python3
"""Peaks of a later micro-batch of several, whose gradients stay until the optimizer's step: makes accumulation.json.

    python measure_accumulation.py > accumulation.json        # any PyTorch, CPU dispatch on fake tensors
"""
import json
import os
import sys
import warnings

import torch

from header import read_header
from measure import Job, Spec, factory_from, load_file, make_criterion, measure_peak

MODELS = ["lenet5.py", "resnet.py", "gpt.py", "checkpointed.py", "unet.py", "gru_seq2seq.py", "dcgan.py", "mixer.py"]
BATCH = 4


def measured(file):
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "models", file)
    module, header = load_file(path), read_header(path)
    job = Job(
        factory=factory_from(module, (header.get("model") or [None])[0], {}),
        inputs=[Spec.parse(s) for s in header["input"]],
        targets=[Spec.parse(s) for s in header.get("target", [])],
        criterion=make_criterion((header.get("loss") or ["sum"])[0], module),
        optimizers=(),
        accumulates=True,
    )
    peak = measure_peak(job, BATCH)
    return {key: peak[key] for key in ("forward_peak", "backward_peak", "live_after_backward", "gradient_bytes")}


warnings.filterwarnings("ignore")
json.dump({"torch": torch.__version__.split("+")[0], "batch": BATCH, "models": {file: measured(file) for file in MODELS}}, sys.stdout, indent=1)
print()
