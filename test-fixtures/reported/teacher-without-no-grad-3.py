# Is torch.no_grad() important for the teacher? Without it every weight of the teacher gets a gradient.
# https://github.com/clovaai/overhaul-distillation/issues/34
import torch
from torch import nn
from torchvision import models


class Distiller:
    def __init__(self, device="cuda"):
        self.t_net = models.wide_resnet50_2(weights="DEFAULT").to(device)
        self.s_net = models.resnet18().to(device)
        self.t_net.eval()
        self.optimizer = torch.optim.SGD(self.s_net.parameters(), lr=0.1, momentum=0.9)
        self.criterion = nn.MSELoss()
        self.device = device

    def train_epoch(self, train_loader):
        for inputs, targets in train_loader:
            inputs = inputs.to(self.device)
            wanted = self.t_net(inputs)  # expect: teacher-without-no-grad
            loss = self.criterion(self.s_net(inputs), wanted)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
