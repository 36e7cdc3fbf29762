# Arrays of what has lost its graph say nothing about the forward's.
import numpy as np
import torch
from torch import nn

model = nn.Sequential(nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)).cuda()


def test(test_loader):
    model.eval()
    outputs, classes, inputs = [], [], []
    for features, _ in test_loader:
        output = model(features.cuda())  # expect: eval-without-no-grad
        outputs.append(output.detach().cpu().numpy())
        classes.append(output.argmax(dim=1).cpu().numpy())
        inputs.append(np.asarray(features))
    return np.concatenate(outputs), np.concatenate(classes), np.concatenate(inputs)


def mean_prediction(test_loader):
    model.eval()
    total, saved = torch.zeros(10), []
    for features, _ in test_loader:
        total += model(features.cuda()).detach().cpu().mean(dim=0)  # expect: eval-without-no-grad
        saved.append(np.asarray(total))
    return saved


def validate_detached_copy(features):
    kept = features.cuda().requires_grad_(True)
    copies = kept.detach()
    model.eval()
    return model(copies).argmax(dim=1).cpu()  # expect: eval-without-no-grad
