#!/usr/bin/env python3
"""Public names of PyTorch that compute on tensors, by where they live. Makes names.json.

    python measure_names.py > names.json            # any PyTorch

Functions and methods are those that a tensor-like object can override (torch.overrides); modules and optimizers are the
classes that torch.nn and torch.optim export.
"""

from __future__ import annotations

import json
import sys
import warnings

import torch
import torch.nn as nn
from torch.overrides import get_overridable_functions


def main() -> None:
    warnings.filterwarnings("ignore")
    found = get_overridable_functions()
    names: dict[str, list[str]] = {}
    places = {"torch": torch, "torch.nn.functional": nn.functional, "torch.Tensor": torch.Tensor, "torch.linalg": torch.linalg,
              "torch.fft": torch.fft, "torch.special": torch.special}
    functions = {id(each) for group in found.values() for each in group}
    for place, space in places.items():
        public = sorted(name for name in dir(space) if not name.startswith("_"))
        if place == "torch.Tensor":
            names[place] = [name for name in public if callable(getattr(space, name)) or hasattr(getattr(space, name), "__get__")]
        else:
            names[place] = [name for name in public if id(getattr(space, name)) in functions]
    names["torch.nn"] = sorted(name for name, value in vars(nn).items() if isinstance(value, type) and issubclass(value, nn.Module))
    names["torch.optim"] = sorted(name for name, value in vars(torch.optim).items()
                                  if isinstance(value, type) and issubclass(value, torch.optim.Optimizer))
    json.dump({"torch": torch.__version__.split("+")[0], "names": names}, sys.stdout, indent=1)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
