#!/usr/bin/env python3
"""What the scripts of batches/ call their model with first: they run as they are, until that call.

    python measure_batches.py > batches.json        # any CPU; with torchvision, lightning, numpy,
                                                # pandas, scikit-learn, opencv-python and albumentations

Of Lightning's scripts it is what the trainer gives to `training_step`. Each tensor counts once, in the order of the arguments.
"""
import contextlib
import io
import json
import os
import runpy
import sys
import tempfile
from pathlib import Path

import lightning.pytorch
import numpy
import pytorch_lightning
import torch
from PIL import Image
from torch.utils._pytree import tree_flatten


class FirstCall(BaseException):
    pass


def described(value):
    return f"{str(value.dtype).removeprefix('torch.')}[{','.join(map(str, value.shape))}]"


def tensors_in(value):
    leaves, _ = tree_flatten(value)
    return [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]


def record(module, args, kwargs):
    given = [*args, *kwargs.values()]
    if all(isinstance(value, torch.Tensor) for value in given) and len(set(map(id, given))) == len(given):
        found = [described(value) for value in args]
        found += [f"{name}={described(value)}" for name, value in kwargs.items()]
    else:
        found = [described(value) for value in {id(value): value for value in tensors_in(given)}.values()]
    raise FirstCall(found)


def record_step(strategy, *args):
    raise FirstCall([described(value) for value in tensors_in(args)])


def first_call(script):
    call = torch.nn.Module.__call__
    for library in (lightning.pytorch, pytorch_lightning):
        library.strategies.Strategy.training_step = record_step
    torch.nn.Module.__call__ = lambda module, *args, **kwargs: (
        call(module, *args, **kwargs)
        if type(module).__module__.startswith("torchvision")
        else record(module, args, kwargs)
    )
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
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
    rows = [f"{i},{i + 1},{i + 2},{10 * i}" for i in range(20)]
    (folder / "houses.csv").write_text("\n".join(["area,rooms,age,price", *rows]) + "\n")


def main():
    scripts = sorted((Path(__file__).parent / "batches").resolve().glob("*.py"))
    with tempfile.TemporaryDirectory() as folder:
        make_data(Path(folder))
        os.chdir(folder)
        calls = {script.name: first_call(script) for script in scripts}
    json.dump({"torch": torch.__version__.split("+")[0], "calls": calls}, sys.stdout, indent=1)
    print()


main()
