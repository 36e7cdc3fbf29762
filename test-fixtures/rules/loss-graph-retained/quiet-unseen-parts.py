"""Whether these carry a graph is decided in a class of another file, or they are kept once."""
import torch
from monai.metrics import CumulativeAverage

from project.models import Detector, Darknet

detector = Detector().cuda()
darknet = Darknet().cuda()
optimizer = torch.optim.SGD([*detector.parameters(), *darknet.parameters()], lr=0.01)
running_loss = CumulativeAverage()
names = ["box", "conf"]
means = {name: 0.0 for name in names}


def train(loader):
    static_outputs, predictions = [], []
    for step, (images, targets) in enumerate(loader):
        loss, components = darknet(images.cuda(), targets.cuda())
        output = detector(images.cuda())
        loss = loss + output.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running_loss.append(loss)  # the class detaches it
        for index, name in enumerate(names):
            means[name] = (means[name] * step + components[index]) / (step + 1)
        if step == 0:
            static_outputs.append(output)
    return static_outputs, predictions


def evaluate_parallel(pairs):
    parallel = torch.nn.DataParallel(Detector()).cuda()
    parallel.eval()
    predictions = []
    for images, targets in pairs:
        score, predicted, correct = parallel(images, targets, False)  # expect: eval-without-no-grad
        predictions.append(predicted)
    return len(predictions)


def evaluate(pairs):
    predictions = []
    for images, targets in pairs:
        score, predicted, correct = detector(images, targets, False)  # expect: eval-without-no-grad
        predictions.append(predicted)
    return len(predictions)
