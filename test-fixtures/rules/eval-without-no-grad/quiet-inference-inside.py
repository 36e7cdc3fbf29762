# Models that switch gradients off themselves where they do not train.
import torch
from torch import nn


class Detector(nn.Module):
    def __init__(self, trainable=False):
        super().__init__()
        self.trainable = trainable
        self.backbone = nn.Sequential(nn.Conv2d(3, 64, 3), nn.ReLU())
        self.head = nn.Conv2d(64, 24, 1)

    @torch.no_grad()
    def inference(self, x):
        return self.head(self.backbone(x)).flatten(1).sigmoid()

    def forward(self, x):
        if not self.trainable:
            return self.inference(x)
        return self.head(self.backbone(x))


class Features(nn.Module):
    def __init__(self, backbone):
        super().__init__()
        self.backbone = backbone

    def forward(self, images):
        with torch.inference_mode():
            features = self.backbone(images)
        return features


def test(testset):
    model = Detector().cuda()
    model.eval()
    best = []
    for index in range(len(testset)):
        scores = model(testset[index].unsqueeze(0).cuda())
        best.append(scores.max().item())
    return best


def evaluate(backbone: Detector, val_loader):
    features = Features(backbone)
    features.eval()
    total = 0.0
    for images in val_loader:
        output = features(images.cuda())
        total += output.mean().item()
    return total
