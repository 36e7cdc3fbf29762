# Wrapped where a flag says so; the optimizer has the parameters of what is inside; a loop over micro-batches.
import torch
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel


class Trainer:
    def __init__(self, args, net):
        self.args = args
        self.net = net.cuda()
        self.opt = torch.optim.SGD(self.net.parameters(), lr=args.lr)
        if args.distributed:
            self.net = DistributedDataParallel(self.net, device_ids=[args.gpu], find_unused_parameters=False)

    def backward(self, x, y):
        loss = F.cross_entropy(self.net(x), y) / self.args.micro_batches
        loss.backward()  # expect: accumulation-without-no-sync

    def step(self, batch):
        x, y = batch
        for xs, ys in zip(x.chunk(self.args.micro_batches), y.chunk(self.args.micro_batches)):
            self.backward(xs, ys)
        self.opt.step()
        self.opt.zero_grad(set_to_none=True)

    def fit(self, loader):
        for batch in loader:
            self.step(batch)
