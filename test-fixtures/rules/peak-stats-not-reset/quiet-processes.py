import multiprocessing

import torch
from torch import nn


def run(width, queue):
    nn.Linear(width, width).cuda()
    queue.put(torch.cuda.max_memory_allocated())


if __name__ == "__main__":
    queue = multiprocessing.Queue()
    for width in (1024, 512):
        multiprocessing.Process(target=run, args=(width, queue)).start()
