# A meter that sums tensors, fed by the training step (examples for distributed training did this).
import torch
import torch.distributed as dist
from torch import nn


class Metric(object):
    def __init__(self, name):
        self.name = name
        self.sum = torch.tensor(0.0)
        self.n = torch.tensor(0.0)

    def update(self, val):
        self.sum = self.sum + val
        self.n += 1

    @property
    def avg(self):
        return self.sum / self.n


def train(epoch, model, optimizer, batches):
    model.train()
    train_loss = Metric("train_loss")
    for x, y in batches:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        train_loss.update(loss)  # expect: graph-retained-after-backward
    if dist.get_rank() == 0:
        print(epoch, train_loss.avg.item())


def main():
    dist.init_process_group("gloo")
    model = nn.parallel.DistributedDataParallel(nn.Linear(20, 5))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    batches = [(torch.randn(8, 20), torch.randint(5, (8,))) for _ in range(100)]
    for epoch in range(3):
        train(epoch, model, optimizer, batches)


if __name__ == "__main__":
    main()
