# 64 samples in chunks of 8; a model of torchvision.
import torch as th
import torchvision
from torch.utils.data import DataLoader

micro_batches = 8


def train(dataset):
    net = torchvision.models.resnet18(num_classes=10)
    opt = th.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    for images, labels in DataLoader(dataset, batch_size=64, shuffle=True):
        opt.zero_grad()
        for x, y in zip(images.chunk(micro_batches), labels.chunk(micro_batches)):  # expect: batchnorm-in-accumulation
            loss = th.nn.functional.cross_entropy(net(x), y) / micro_batches
            loss.backward()
        opt.step()
