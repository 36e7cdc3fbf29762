# A BERT of a model-parallel run restores its weights: memory of the first GPU that no figure explained.
# https://github.com/NVIDIA-NeMo/Speech/pull/1483
import os

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel


class BertEncoder(nn.Module):
    def __init__(self, hidden=1024):
        super().__init__()
        self.language_model = nn.TransformerEncoder(nn.TransformerEncoderLayer(hidden, 16, batch_first=True), 24)

    def forward(self, x):
        return self.language_model(x)

    def restore_weights(self, restore_path):
        if os.path.isfile(restore_path):
            state_dict = torch.load(restore_path)  # expect: load-without-map-location
            self.language_model.load_state_dict(state_dict)


def main(loader, restore_path):
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    torch.cuda.set_device(rank)
    model = BertEncoder()
    model.restore_weights(restore_path)
    model = DistributedDataParallel(model.cuda(rank), device_ids=[rank])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x.cuda(rank)), y.cuda(rank)).backward()
        optimizer.step()
