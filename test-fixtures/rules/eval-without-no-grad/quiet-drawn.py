"""The graph of the output is drawn, here or in a helper: under no_grad there would be none."""
import torch
from torch import nn
from torchviz import make_dot


def plot(model, output):
    make_dot(output, params=dict(model.named_parameters())).render("graph")


def draw(net: nn.Module, images):
    net.eval()
    output = net(images)
    plot(net, output)


model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2)).cuda()
model.eval()
scores = model(torch.load("images.pt").cuda())
make_dot(scores).view()
draw(model, torch.load("images.pt").cuda())
