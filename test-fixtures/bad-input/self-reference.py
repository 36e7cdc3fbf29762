import torch
x = x
y = y + y
a = b
b = a
class C(C):
    pass
class D(E):
    pass
class E(D):
    pass
def f():
    return f()
def g(loss):
    return h(loss)
def h(loss):
    return g(loss)
for i in i:
    total += total
    g(f())
import torch as torch
from . import *
from .. import torch as th
from torch import *
