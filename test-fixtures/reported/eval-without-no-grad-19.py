# Feature extraction over a folder of images into a dictionary.
import torch
import torchvision


def extract(paths, load):
    net = torchvision.models.resnet50(weights="DEFAULT").cuda()
    net.eval()
    features = {}
    for path in paths:
        features[path] = net(load(path).unsqueeze(0).cuda())  # expect: eval-without-no-grad, loss-graph-retained
    torch.save(features, "features.pt")
