from .tensor import Tensor
