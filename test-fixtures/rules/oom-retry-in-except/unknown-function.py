import torch

from engine import train_one_epoch

import config

while config.batch_size > 0:
    try:
        train_one_epoch(config.batch_size)
        break
    except torch.OutOfMemoryError:
        config.batch_size //= 2
        train_one_epoch(config.batch_size)  # expect: oom-retry-in-except
