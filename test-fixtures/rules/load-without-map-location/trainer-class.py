import os

import torch as th
from torch import load
from torch.nn.parallel import DistributedDataParallel as DDP


class Trainer:
    def __init__(self, model, args):
        th.distributed.init_process_group("nccl")
        self.gpu = int(os.environ["LOCAL_RANK"])
        self.model = DDP(model.cuda(self.gpu), device_ids=[self.gpu])
        self.optimizer = th.optim.SGD(self.model.parameters(), lr=args.lr)
        self.scheduler = th.optim.lr_scheduler.StepLR(self.optimizer, 10)
        self.start_epoch = 0
        if args.resume:
            self.snapshot = self.read(args.resume)
            self.restore(self.snapshot)

    def read(self, path):
        return load(path)  # expect: load-without-map-location

    def restore(self, snapshot):
        weights = {key.replace("module.", ""): value for key, value in snapshot["state_dict"].items()}
        self.model.module.load_state_dict(weights)
        self.optimizer.load_state_dict(snapshot.get("optimizer"))
        self.scheduler.load_state_dict(th.load("scheduler.pt"))
        self.start_epoch = snapshot["epoch"]
