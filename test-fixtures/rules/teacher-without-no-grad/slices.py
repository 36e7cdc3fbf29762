# The first layers of a pretrained network, cut off by a slice: with gradients for nobody, frozen in several ways, or trained.
import torch
import torch.nn.functional as F
import torchvision
from torch import nn


def perceptual(net, loader):
    net = net.cuda()
    vgg = torchvision.models.vgg16(weights="DEFAULT").features[:16].cuda().eval()
    optimizer = torch.optim.Adam(net.parameters())
    for low, high in loader:
        out = net(low.cuda())
        loss = F.l1_loss(vgg(out), vgg(high.cuda()))  # expect: teacher-without-no-grad
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def frozen_before(net, loader):
    net = net.cuda()
    vgg = torchvision.models.vgg16(weights="DEFAULT")
    vgg.requires_grad_(False)
    part = vgg.features[:16].cuda().eval()
    optimizer = torch.optim.Adam(net.parameters())
    for low, high in loader:
        loss = F.l1_loss(part(net(low.cuda())), part(high.cuda()))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def freeze(model):
    for parameter in model.parameters():
        parameter.requires_grad_(False)


def frozen_by_helper(net, loader):
    net = net.cuda()
    vgg = torchvision.models.vgg16(weights="DEFAULT")
    freeze(vgg)
    part = vgg.features[:16].cuda().eval()
    optimizer = torch.optim.Adam(net.parameters())
    for low, high in loader:
        loss = F.l1_loss(part(net(low.cuda())), part(high.cuda()))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def trained_as_a_whole(loader):
    net = nn.Sequential(nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)).cuda()
    body = net[:2]
    body.eval()
    optimizer = torch.optim.Adam(net.parameters())
    for x, y in loader:
        loss = F.cross_entropy(net(x.cuda()), y.cuda()) + body(x.cuda()).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
