#!/usr/bin/env python3
"""What the scripts of batches/ call their model with first: they run as they are, until that call.

    python measure_batches.py > batches.json        # PyTorch, torchvision and numpy, any CPU
"""
import contextlib
import io
import json
import os
import runpy
import sys
import tempfile
from pathlib import Path

import numpy
import torch
from PIL import Image


class FirstCall(BaseException):
    pass


def described(value):
    return f"{str(value.dtype).removeprefix('torch.')}[{','.join(map(str, value.shape))}]"


def record(module, args, kwargs):
    found = [described(value) for value in args]
    found += [f"{name}={described(value)}" for name, value in kwargs.items()]
    raise FirstCall(found)


def first_call(script):
    call = torch.nn.Module.__call__
    torch.nn.Module.__call__ = lambda module, *args, **kwargs: (
        call(module, *args, **kwargs)
        if type(module).__module__.startswith("torchvision")
        else record(module, args, kwargs)
    )
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            runpy.run_path(str(script), run_name="__main__")
    except FirstCall as end:
        return end.args[0]
    finally:
        torch.nn.Module.__call__ = call
    raise SystemExit(f"{script} never calls its model")


def make_data(folder):
    for label in ("a", "b"):
        place = folder / "pictures" / label
        place.mkdir(parents=True)
        for i in range(6):
            Image.new("RGB", (80 + 10 * i, 100)).save(place / f"{i}.png")
    numpy.zeros(1000, dtype=numpy.uint16).tofile(folder / "train.bin")


def main():
    scripts = sorted((Path(__file__).parent / "batches").resolve().glob("*.py"))
    with tempfile.TemporaryDirectory() as folder:
        make_data(Path(folder))
        os.chdir(folder)
        calls = {script.name: first_call(script) for script in scripts}
    json.dump({"torch": torch.__version__.split("+")[0], "calls": calls}, sys.stdout, indent=1)
    print()


main()
