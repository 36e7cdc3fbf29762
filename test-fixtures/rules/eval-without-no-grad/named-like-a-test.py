"""`test_net` is no unit test: it runs over data and takes the results."""
import torch
from torch import nn


def test_net(net, dataset):
    hits = 0
    for index in range(len(dataset)):
        image, label = dataset[index]
        detections = net(image[None].cuda()).data  # expect: eval-without-no-grad
        hits += (detections.argmax(1).cpu() == label).sum().item()
    return hits


if __name__ == "__main__":
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten()).cuda()
    model.eval()
    print(test_net(model, torch.load("images.pt")))
