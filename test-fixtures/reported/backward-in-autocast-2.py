# Form of https://github.com/pytorch/benchmark/pull/873: only the forward pass of the segmentation network should be mixed.
import torch
from torch import nn
from torch.utils.data import DataLoader


class UNet(nn.Module):
    def __init__(self, channels, classes):
        super().__init__()
        self.inc = nn.Conv2d(channels, 64, 3, padding=1)
        self.outc = nn.Conv2d(64, classes, 1)

    def forward(self, x):
        return self.outc(torch.relu(self.inc(x)))


class Model:
    def __init__(self, dataset, amp=True):
        self.model = UNet(3, 2).cuda()
        self.loader = DataLoader(dataset, batch_size=1, shuffle=True)
        self.optimizer = torch.optim.RMSprop(self.model.parameters(), lr=1e-5, weight_decay=1e-8, momentum=0.9)
        self.grad_scaler = torch.amp.GradScaler("cuda", enabled=amp)
        self.criterion = nn.CrossEntropyLoss()
        self.amp = amp

    def train(self):
        self.model.train()
        for image, mask in self.loader:
            with torch.autocast("cuda", enabled=self.amp):
                predicted = self.model(image.cuda())
                loss = self.criterion(predicted, mask.cuda())
                self.optimizer.zero_grad(set_to_none=True)
                self.grad_scaler.scale(loss).backward()  # expect: backward-in-autocast
                self.grad_scaler.step(self.optimizer)
                self.grad_scaler.update()
