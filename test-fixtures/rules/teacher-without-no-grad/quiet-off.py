"""Gradients are off for the teacher, its output is detached, or it is frozen."""
import torch
import torch.nn.functional as F
from torch import nn

student = nn.Linear(128, 10).cuda()
teacher = nn.Linear(128, 10).cuda()
frozen_teacher = nn.Linear(128, 10).cuda().requires_grad_(False)
listed_teacher = nn.Linear(128, 10).cuda()
for p in listed_teacher.parameters():
    p.requires_grad = False
teacher.eval()
optimizer = torch.optim.Adam(student.parameters(), lr=1e-3)


@torch.no_grad()
def teach(x):
    return teacher(x)


def train(loader):
    for x, y in loader:
        with torch.no_grad():
            under_context = teacher(x)
        detached = teacher(x).detach()
        labels = teacher(x).argmax(dim=1)
        logits = student(x)
        loss = F.cross_entropy(logits, y)
        loss = loss + F.mse_loss(logits, under_context) + F.mse_loss(logits, detached)
        loss = loss + F.mse_loss(logits, teach(x)) + F.cross_entropy(logits, labels)
        loss = loss + F.mse_loss(logits, frozen_teacher(x)) + F.mse_loss(logits, listed_teacher(x))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
