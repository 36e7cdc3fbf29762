# Form of https://github.com/ultralytics/yolov5/issues/790: K - 1 reductions of a detector's gradients are for nothing.
import os

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler
from torchvision.models.detection import ssd300_vgg16


def train(dataset, epochs, accumulate=4):
    local_rank = int(os.environ["LOCAL_RANK"])
    torch.distributed.init_process_group("nccl")
    model = ssd300_vgg16(num_classes=81).to(local_rank)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.937, nesterov=True)
    model = DDP(model, device_ids=[local_rank])
    dataloader = DataLoader(dataset, batch_size=16, sampler=DistributedSampler(dataset), drop_last=True)
    for epoch in range(epochs):
        optimizer.zero_grad()
        for i, (images, targets) in enumerate(dataloader):
            losses = model([image.to(local_rank) for image in images], targets)
            loss = sum(losses.values()) / accumulate
            loss.backward()  # expect: accumulation-without-no-sync
            if (i + 1) % accumulate == 0 or i + 1 == len(dataloader):
                optimizer.step()
                optimizer.zero_grad()
