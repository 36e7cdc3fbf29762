# inference_mode() at the start of a function, autocast() inside an if.
import torch
from torch import nn


def initialise(model, batches, half=False):
    torch.inference_mode()  # expect: no-grad-not-applied
    if half:
        torch.autocast(device_type="cuda", dtype=torch.bfloat16)  # expect: no-grad-not-applied
    scales = []
    for x in batches:
        scales.append(model(x).std().item())
    for p in model.parameters():
        p.data.div_(sum(scales) / len(scales))


initialise(nn.Linear(16, 16), [torch.randn(8, 16) for _ in range(4)])
