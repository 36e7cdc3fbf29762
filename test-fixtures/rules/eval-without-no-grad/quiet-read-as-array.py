# What is read as an array without `detach()` has no graph: the script would stop there.
import numpy as np
import torch


class Evaluator:
    def __init__(self, dataset, device):
        self.dataset = dataset
        self.device = device

    def evaluate(self, net):
        net.eval()
        found = []
        for index in range(len(self.dataset)):
            image, scale = self.dataset[index]
            boxes, scores = net(image.unsqueeze(0).to(self.device))
            boxes *= scale
            kept = boxes[scores > 0.5]
            found.append(np.hstack((kept, np.ones((len(kept), 1)))))
        return found


def test(model, test_loader):
    model.eval()
    features = []
    for images, _ in test_loader:
        output = model(images.cuda())
        features.append(output.cpu().numpy())
    return np.concatenate(features)
