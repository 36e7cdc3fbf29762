import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class Boxes(Dataset):
    def __len__(self):
        return 20

    def __getitem__(self, index):
        return torch.rand(3, 128, 128), {"boxes": torch.rand(3, 4), "labels": torch.randint(0, 8, (3,))}


def collate_fn(batch):
    return tuple(zip(*batch))


class Detector(nn.Module):
    def __init__(self, width=64, classes=8, anchors=3):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 32, 3, 2, 1), nn.BatchNorm2d(32), nn.ReLU(inplace=True),
            nn.Conv2d(32, width, 3, 2, 1), nn.BatchNorm2d(width), nn.ReLU(inplace=True),
            nn.Conv2d(width, width, 3, 2, 1), nn.ReLU(inplace=True),
        )
        self.scores = nn.Conv2d(width, anchors * classes, 3, padding=1)
        self.boxes = nn.Conv2d(width, anchors * 4, 3, padding=1)
        self.classes = classes

    def forward(self, images, targets):
        features = self.stem(torch.stack(images))
        count = features.size(0)
        scores = self.scores(features).permute(0, 2, 3, 1).reshape(count, -1, self.classes)
        boxes = self.boxes(features).permute(0, 2, 3, 1).reshape(count, -1, 4).sigmoid()
        score_losses, box_losses = [], []
        for own_scores, own_boxes, target in zip(scores, boxes, targets):
            nearest = torch.cdist(own_boxes, target["boxes"]).min(0).indices
            box_losses.append(F.smooth_l1_loss(own_boxes[nearest], target["boxes"]))
            wanted = torch.zeros_like(own_scores)
            wanted[nearest, target["labels"]] = 1.0
            score_losses.append(F.binary_cross_entropy_with_logits(own_scores, wanted))
        return {"scores": torch.stack(score_losses).mean(), "boxes": torch.stack(box_losses).mean()}


device = torch.device("cpu")
model = Detector().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.005, momentum=0.9, weight_decay=0.0005)
loader = DataLoader(Boxes(), batch_size=4, shuffle=True, collate_fn=collate_fn)
for images, targets in loader:
    images = [image.to(device) for image in images]
    targets = [{name: value.to(device) for name, value in target.items()} for target in targets]
    losses = model(images, targets)
    loss = sum(losses.values())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
