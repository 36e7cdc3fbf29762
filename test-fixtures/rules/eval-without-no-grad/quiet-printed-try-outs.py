"""Networks that are run on made-up data at the end of their file, and what they give is printed."""
import torch
from torch import nn


def orthogonal_loss(matrices):
    return torch.mean(torch.norm(matrices @ matrices.transpose(2, 1), dim=(1, 2)))


if __name__ == "__main__":
    points = torch.randn(3, 3, 5)
    transform = nn.Sequential(nn.Flatten(), nn.Linear(15, 9), nn.Unflatten(1, (3, 3))).eval()
    out = transform(points)
    print(f"shape: {out.shape}")
    print(f"loss: {orthogonal_loss(out)}")

    ported = nn.Sequential(nn.Flatten(), nn.Linear(15, 9), nn.Unflatten(1, (3, 3))).eval()
    dummy = torch.empty(3, 3, 5, dtype=torch.float32).normal_()
    ours = transform(dummy)
    theirs = ported(dummy)
    difference = torch.abs(ours - theirs)
    print(difference.sum().item(), difference.max().item())

    words = nn.Sequential(nn.Embedding(100, 8), nn.Flatten(), nn.Linear(64, 9)).eval()
    unused = words(torch.zeros(20, 8).long())
