import numpy as np


class Tensor:
    def __init__(self, data, parents=()):
        self.data, self.parents, self.grad = np.asarray(data), parents, None

    def backward(self):
        self.grad = np.ones_like(self.data)
