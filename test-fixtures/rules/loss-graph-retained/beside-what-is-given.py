# Codes whose images are given to whoever calls: their graph is held with that of the images.
import torch
from torch import nn

encoder = nn.Linear(64, 8).cuda()
decoder = nn.Linear(8, 64).cuda()


def rollout(frames, expand):
    codes, images = [], []
    for frame in frames:
        code = encoder(frame)
        codes.append(code)
        image = decoder(expand(code))
        images.append(image)
    print(len(codes))
    return torch.stack(images)


def reconstruct(frames, expand):
    codes, images = [], []
    for frame in frames:
        code = encoder(frame)
        codes.append(code)  # expect: loss-graph-retained
        image = decoder(expand(code))
        images.append(image.detach())
    print(len(codes))
    return torch.stack(images)
