# Mixed precision under a launcher: "I am wondering why map_location is necessary even if I called set_device before".
# https://github.com/NVIDIA/apex/issues/756
import argparse
import os

import torch
import torch.nn as nn
from torch.amp import GradScaler, autocast
from torchvision.models import resnet50


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--resume", default="")
    parser.add_argument("--epochs", type=int, default=90)
    args = parser.parse_args()
    gpu = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(gpu)
    torch.distributed.init_process_group(backend="nccl", init_method="env://")
    model = resnet50().cuda()
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
    scaler = GradScaler("cuda")
    model = nn.parallel.DistributedDataParallel(model, device_ids=[gpu])
    start_epoch = 0
    if args.resume:
        checkpoint = torch.load(args.resume)  # expect: load-without-map-location
        start_epoch = checkpoint["epoch"]
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        scaler.load_state_dict(checkpoint["amp"])
    for epoch in range(start_epoch, args.epochs):
        train(loader(), model, optimizer, scaler)


def loader():
    return [(torch.randn(32, 3, 224, 224), torch.randint(1000, (32,))) for _ in range(10)]


def train(batches, model, optimizer, scaler):
    for images, target in batches:
        optimizer.zero_grad()
        with autocast("cuda"):
            loss = nn.functional.cross_entropy(model(images.cuda()), target.cuda())
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()


if __name__ == "__main__":
    main()
