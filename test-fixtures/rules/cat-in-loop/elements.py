"""Entries of a dictionary that grow."""
import torch
from torch.utils.data import DataLoader
from torchvision.models import resnet50


@torch.no_grad()
def collect(data):
    model = resnet50().cuda().eval()
    loader = DataLoader(data, batch_size=64)
    results = {"logits": torch.empty(0).cuda(), "scores": torch.empty(0).cuda()}
    first = {}
    emptied = {"x": torch.empty(0).cuda()}
    by_label = {}
    passed = {"x": torch.empty(0).cuda()}
    for images, labels in loader:
        out = model(images.cuda())
        results["logits"] = torch.cat([results["logits"], out])  # expect: cat-in-loop
        results["scores"] = torch.cat([results["scores"], out.softmax(-1)])  # expect: cat-in-loop
        if "x" not in first:
            first["x"] = out
        else:
            first["x"] = torch.cat([first["x"], out])  # expect: cat-in-loop
        emptied["x"] = torch.cat([emptied["x"], out])
        if len(emptied["x"]) > 1000:
            emptied["x"] = torch.empty(0).cuda()
        for label, row in zip(labels.tolist(), out):
            by_label[label] = torch.cat([by_label[label], row])
        passed["x"] = torch.cat([passed["x"], out])
        write(passed)
        results["input_ids"] = torch.cat([results["input_ids"], out])
        fresh = {"x": out}
        fresh["x"] = torch.cat([fresh["x"], out.flip(0)])
    return results, first, emptied, by_label


def write(values):
    values["x"] = values["x"][:0]
