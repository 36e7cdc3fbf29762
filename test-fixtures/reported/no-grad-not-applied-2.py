# Validation of an efficient segmentation network: the statement stands in the loop.
import torch
from torch import nn


def val(args, val_loader, model):
    model.eval()
    hits = 0
    for i, (input, label) in enumerate(val_loader):
        torch.no_grad()  # expect: no-grad-not-applied
        input_var = input.cuda()
        output = model(input_var)  # expect: eval-without-no-grad
        hits += (output.argmax(1).cpu() == label).float().mean().item()
    return hits / len(val_loader)


batches = [(torch.rand(2, 3, 64, 64), torch.zeros(2, 64, 64, dtype=torch.long))] * 10
print(val(None, batches, nn.Conv2d(3, 11, 3, padding=1).cuda()))
