# A history for the printed curve of a fit that takes any loss function; it is a thousand iterations long.
# https://github.com/rballester/tntorch/pull/19
import time

import torch


def optimize(tensors, loss_function, tol=1e-4, max_iter=10000, print_freq=500):
    if not isinstance(tensors, (list, tuple)):
        tensors = [tensors]
    parameters = [t for t in tensors if t.requires_grad]
    optimizer = torch.optim.Adam(parameters)
    losses = []
    start = time.time()
    iteration = 0
    while True:
        optimizer.zero_grad()
        loss = loss_function(*tensors)
        loss.backward()
        optimizer.step()
        losses.append(loss)  # expect: graph-retained-after-backward
        if len(losses) >= 2 and losses[-1] > losses[-2] - tol:
            break
        if iteration == max_iter:
            break
        if iteration % print_freq == 0:
            print("iter: {: <6} | loss: {:10.6f} | total time: {:9.4f}".format(iteration, losses[-1], time.time() - start))
        iteration += 1
