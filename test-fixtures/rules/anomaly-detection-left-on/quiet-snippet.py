"""One backward, looked at once: a debugging session written down."""
import torch
from torch import nn

model = nn.Linear(16, 2)
with torch.autograd.detect_anomaly():
    out = model(torch.randn(4, 16)).log()
    out.sum().backward()
