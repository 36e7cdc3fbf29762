import random

import numpy as np
import torch


def prepare(number=0):
    random.seed(number)
    np.random.seed(number)
    torch.manual_seed(number)
