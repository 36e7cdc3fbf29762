"""An optimizer made elsewhere may own anything."""
import torch.nn.functional as F
from torch import nn

from project import build_optimizer

student = nn.Linear(128, 10).cuda()
teacher = nn.Linear(128, 10).cuda()
teacher.eval()
optimizer = build_optimizer()


def train(loader):
    for x in loader:
        loss = F.mse_loss(student(x), teacher(x))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
