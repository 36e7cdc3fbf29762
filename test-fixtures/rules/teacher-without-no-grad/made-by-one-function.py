# Student and teacher come from the same function: one name in it, another model with each call.
import torch
from torch import nn
from torch.nn import functional as F
from torchvision.models import resnet18


def create():
    net = resnet18()
    net.train()
    return net.cuda()


def distil(loader):
    student = create()
    teacher = create()
    optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
    for x, _ in loader:
        wanted = teacher(x.cuda())  # expect: teacher-without-no-grad
        loss = F.mse_loss(student(x.cuda()), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def create_for(ema=False):
    net = resnet18().cuda()
    if ema:
        for parameter in net.parameters():
            parameter.detach_()
    return net


def mean_teacher(loader):
    student = create_for()
    ema_model = create_for(ema=True)
    optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
    for x, _ in loader:
        loss = F.mse_loss(student(x.cuda()), ema_model(x.cuda()))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
