"""A module whose networks run under no_grad inside: what it gives back are crops of the picture."""
import torch
from torch import nn


class Detector(nn.Module):
    def __init__(self, size=160, margin=0, keep_all=False):
        super().__init__()
        self.size = size
        self.margin = margin
        self.keep_all = keep_all
        self.device = torch.device("cpu")
        self.select = "largest" if keep_all else "probability"
        self.proposals = nn.Conv2d(3, 5, 3)
        self.refinement = nn.Linear(5, 4)

    def forward(self, picture):
        boxes = self.detect(picture)
        if not self.keep_all:
            boxes = boxes[:1]
        return self.extract(picture, boxes)

    def detect(self, picture):
        with torch.no_grad():
            return self.refinement(self.proposals(picture).mean((2, 3)))

    def extract(self, picture, boxes):
        faces = [crop(picture, box, self.size, self.margin) for box in boxes]
        return torch.stack(faces)


class Encoder(Detector):
    def forward(self, picture):
        return self.proposals(picture)


detector = Detector().cuda()
encoder = Encoder().cuda()
aligned, codes = [], []
for picture, name in pictures:
    aligned.append(detector(picture))
    codes.append(encoder(picture))  # expect: loss-graph-retained
print(torch.stack(aligned).shape)
