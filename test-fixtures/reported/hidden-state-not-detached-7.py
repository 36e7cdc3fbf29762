# The time of a batch grows from one second to thirteen: frames of a video, the state goes from clip to clip.
# Form of https://github.com/pytorch/pytorch/issues/2769
import torch
from torch import nn


class VideoNet(nn.Module):
    def __init__(self, classes=101):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 64, 7, stride=4), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.gru = nn.GRU(64, 256, batch_first=True)
        self.fc = nn.Linear(256, classes)

    def forward(self, clip, state=None):
        b, t = clip.shape[:2]
        features = self.features(clip.flatten(0, 1)).view(b, t, -1)
        out, state = self.gru(features, state)
        return self.fc(out[:, -1]), state


class Runner:
    def __init__(self, loader):
        self.loader = loader
        self.net = VideoNet().cuda()
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.01, momentum=0.9)
        self.state = None

    def train_epoch(self):
        self.net.train()
        for clip, label in self.loader:
            scores, self.state = self.net(clip.cuda(), self.state)  # expect: hidden-state-not-detached
            loss = self.criterion(scores, label.cuda())
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
