import functools
import time
from contextlib import contextmanager

import torch


@contextmanager
def frozen(model):
    was = model.training
    model.eval()
    with torch.no_grad():
        yield model
    model.train(was)


@contextmanager
def evaluating(model):
    was = model.training
    model.eval()
    yield model
    model.train(was)


class quiet:
    def __enter__(self):
        self.before = torch.is_grad_enabled()
        torch.set_grad_enabled(False)

    def __exit__(self, *args):
        torch.set_grad_enabled(self.before)


def without_graph(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        with torch.no_grad():
            return function(*args, **kwargs)

    return wrapper


def timed_inference(function):
    def wrapper(*args, **kwargs):
        start = time.time()
        result = function(*args, **kwargs)
        print(time.time() - start)
        return result

    return wrapper
