# A perceptual loss over the features of VGG, whose weights nobody froze: gradients for twenty million numbers nobody reads.
import torch
from torchvision.models import vgg19


class Trainer:
    def __init__(self, net):
        self.net = net.cuda()
        self.vgg = vgg19(weights="DEFAULT").features.cuda().eval()
        self.optimizer = torch.optim.Adam(self.net.parameters(), 1e-4)

    def step(self, low, high):
        made = self.net(low.cuda())
        found = self.vgg(made)  # expect: teacher-without-no-grad
        with torch.no_grad():
            wanted = self.vgg(high.cuda())
        loss = torch.nn.functional.mse_loss(found, wanted)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
