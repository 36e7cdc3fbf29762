"""Lists that a function gives back without joining them."""
import torch
from torch import nn
from torchvision.models import resnet50
from torchvision.models.detection import fasterrcnn_resnet50_fpn


@torch.no_grad()
def extract(model, data_loader):
    model.eval()
    features, labels = [], []
    for images, target in data_loader:
        features.append(model(images.cuda()))  # expect: outputs-kept-on-device
        labels.append(target)
    return features, labels


@torch.no_grad()
def of_a_known_model(data_loader):
    model = resnet50().cuda().eval()
    outputs = []
    for images, _ in data_loader:
        outputs.append(model(images.cuda()))  # expect: outputs-kept-on-device
    return outputs


@torch.no_grad()
def moved(model, data_loader):
    features = []
    for images, _ in data_loader:
        features.append(model(images.cuda()).cpu())
    return features


@torch.no_grad()
def of_unknown_kind(model, data_loader):
    results = []
    for images, _ in data_loader:
        results.append(model(images.cuda()))
    return results


@torch.no_grad()
def boxes(data_loader):
    detector = fasterrcnn_resnet50_fpn().cuda().eval()
    predictions = []
    for images, _ in data_loader:
        predictions.append(detector(images))
    return predictions


@torch.no_grad()
def few(data_loader):
    head = nn.Sequential(nn.Flatten(), nn.Linear(3072, 10)).cuda()
    features = []
    for images, _ in data_loader:
        features.append(head(images.cuda()))
    return features


@torch.no_grad()
def only_the_last(model, data_loader):
    for images, _ in data_loader:
        features = []
        for view in images:
            features.append(model(view.cuda()))
    return features


@torch.no_grad()
def in_pieces(model, data_loader):
    features = []
    for images, _ in data_loader:
        features.append(model(images.cuda()))
        if len(features) == 10:
            yield features
            features = []
    return features


@torch.no_grad()
def emptied(model, data_loader, write):
    features = []
    for images, _ in data_loader:
        features.append(model(images.cuda()))
        write(features)
        features.clear()
    return features


@torch.no_grad()
def reduced(model, data_loader):
    features = []
    for images, _ in data_loader:
        features.append(model(images.cuda()))
    features = [one.mean(0) for one in features]
    return features
