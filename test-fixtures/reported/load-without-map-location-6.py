# An average of the weights that resumes itself, once in each of eight processes: memory of device 0 explodes.
# https://github.com/huggingface/pytorch-image-models/issues/72
import copy
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torchvision.models import efficientnet_b0


class WeightAverage:
    def __init__(self, model, decay=0.9999, resume=""):
        self.ema = copy.deepcopy(model)
        self.ema.eval()
        self.decay = decay
        if resume:
            self._load_checkpoint(resume)
        for p in self.ema.parameters():
            p.requires_grad_(False)

    def _load_checkpoint(self, checkpoint_path):
        checkpoint = torch.load(checkpoint_path)  # expect: load-without-map-location
        if isinstance(checkpoint, dict) and "state_dict_ema" in checkpoint:
            self.ema.load_state_dict(checkpoint["state_dict_ema"])

    @torch.no_grad()
    def update(self, model):
        for ours, theirs in zip(self.ema.state_dict().values(), model.module.state_dict().values()):
            ours.copy_(ours * self.decay + (1.0 - self.decay) * theirs)


def main(loader, resume):
    local_rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local_rank)
    dist.init_process_group(backend="nccl")
    model = efficientnet_b0().cuda()
    model_ema = WeightAverage(model, resume=resume)
    model = DistributedDataParallel(model, device_ids=[local_rank])
    optimizer = torch.optim.RMSprop(model.parameters(), lr=0.016)
    criterion = nn.CrossEntropyLoss()
    for images, target in loader:
        loss = criterion(model(images.cuda()), target.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        model_ema.update(model)
