# https://github.com/pytorch/pytorch/issues/23138: with --resume, every process also lives on GPU 0.
import torch
import torch.distributed as dist
import torch.nn as nn
import torchvision.models as models


def main_worker(gpu, ngpus_per_node, args):
    dist.init_process_group(backend="nccl", init_method=args.dist_url, world_size=args.world_size, rank=gpu)
    model = models.__dict__[args.arch]()
    torch.cuda.set_device(gpu)
    model.cuda(gpu)
    model = nn.parallel.DistributedDataParallel(model, device_ids=[gpu])
    criterion = nn.CrossEntropyLoss().cuda(gpu)
    optimizer = torch.optim.SGD(model.parameters(), args.lr, momentum=0.9)
    best_acc1 = 0
    if args.resume:
        checkpoint = torch.load(args.resume)  # expect: load-without-map-location
        args.start_epoch = checkpoint["epoch"]
        best_acc1 = checkpoint["best_acc1"]
        model.load_state_dict(checkpoint["state_dict"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        print("=> loaded checkpoint '{}' (epoch {})".format(args.resume, checkpoint["epoch"]))
    return model, criterion, optimizer, best_acc1
