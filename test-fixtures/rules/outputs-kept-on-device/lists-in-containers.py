# Lists of outputs by name or by number, each joined behind the loop.
from collections import defaultdict

import torch
from torchvision.models import resnet50

model = resnet50().cuda().eval()
loader = torch.utils.data.DataLoader(torch.randn(5000, 3, 224, 224), batch_size=64)


@torch.no_grad()
def by_name():
    outputs = defaultdict(list)
    for images in loader:
        logits = model(images.cuda())
        outputs["logits"].append(logits)  # expect: outputs-kept-on-device
        outputs["host"].append(logits.cpu())
    return {name: torch.cat(values) for name, values in outputs.items()}


@torch.no_grad()
def by_written_key():
    outputs = {"logits": [], "labels": []}
    for images in loader:
        outputs["logits"].append(model(images.cuda()))  # expect: outputs-kept-on-device
    return torch.cat(outputs["logits"])


@torch.no_grad()
def moved_in_between():
    outputs = {"logits": []}
    for images in loader:
        outputs["logits"].append(model(images.cuda()))
        outputs["logits"] = [value.cpu() for value in outputs["logits"]]
    return torch.cat(outputs["logits"])


@torch.no_grad()
def never_joined():
    outputs = defaultdict(list)
    for images in loader:
        outputs["logits"].append(model(images.cuda()))
    return {name: [value.cpu() for value in values] for name, values in outputs.items()}


@torch.no_grad()
def made_anew():
    for images in loader:
        outputs = defaultdict(list)
        outputs["logits"].append(model(images.cuda()))
        yield {name: torch.cat(values) for name, values in outputs.items()}
