# Attention maps of all blocks kept by hooks for a plot at the end.
import torch
import torchvision

model = torchvision.models.vit_b_16(weights=None).cuda()
optimizer = torch.optim.AdamW(model.parameters())
maps = []


def keep(module, inputs, output):
    maps.append(output)  # expect: hook-keeps-tensor


for block in model.encoder.layers:
    block.register_forward_hook(keep)


def train(loader):
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x.cuda()), y.cuda()).backward()
        optimizer.step()
