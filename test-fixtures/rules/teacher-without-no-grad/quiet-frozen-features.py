"""The features of VGG are frozen: gradients go through them and stop nowhere."""
import torch
from torchvision.models import vgg19


class Frozen:
    def __init__(self, net):
        self.net = net.cuda()
        self.vgg = vgg19(weights="DEFAULT").features.cuda().eval()
        for parameter in self.vgg.parameters():
            parameter.requires_grad = False
        self.optimizer = torch.optim.Adam(self.net.parameters(), 1e-4)

    def step(self, low, high):
        loss = torch.nn.functional.mse_loss(self.vgg(self.net(low.cuda())), self.vgg(high.cuda()))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
