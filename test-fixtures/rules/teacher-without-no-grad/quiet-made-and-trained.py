# Models that one function makes and hands to somebody who trains them.
import torch
from torch.nn import functional as F
from torchvision.models import resnet18


def trained(net):
    return torch.optim.SGD(net.parameters(), lr=0.1)


def create_trained():
    net = resnet18().cuda()
    optimizer = trained(net)
    return net, optimizer


def create_and_train():
    net = resnet18().cuda()
    optimizers.append(trained(net))
    return net


optimizers = []


def mutual(loader):
    student, first = create_trained()
    target, second = create_trained()
    for x, _ in loader:
        loss = F.mse_loss(student(x.cuda()), target(x.cuda()))
        first.zero_grad()
        second.zero_grad()
        loss.backward()
        first.step()
        second.step()


def mutual_in_a_list(loader):
    student = create_and_train()
    target = create_and_train()
    for x, _ in loader:
        loss = F.mse_loss(student(x.cuda()), target(x.cuda()))
        for optimizer in optimizers:
            optimizer.zero_grad()
        loss.backward()
        for optimizer in optimizers:
            optimizer.step()
