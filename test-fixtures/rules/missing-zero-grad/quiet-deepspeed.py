import argparse

import deepspeed
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=-1)
parser = deepspeed.add_config_arguments(parser)
args = parser.parse_args()

net = nn.Sequential(nn.Linear(1024, 4096), nn.GELU(), nn.Linear(4096, 1024))
dataset = torch.utils.data.TensorDataset(torch.randn(4096, 1024))
engine, optimizer, loader, _ = deepspeed.initialize(
    args=args, model=net, model_parameters=net.parameters(), training_data=dataset
)

for step, (x,) in enumerate(loader):
    x = x.to(engine.device)
    loss = (engine(x) - x).pow(2).mean()
    engine.backward(loss)
    engine.step()
    if step % 10 == 0:
        print(step, loss.item())
