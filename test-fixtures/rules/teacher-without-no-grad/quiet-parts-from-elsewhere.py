"""The student is in eval mode while its connectors are trained, and the caller in another file has put its features into them."""
import torch
from torch import nn


def init(student, teacher_net, init_modules, loader):
    teacher_net.eval()
    student.eval()
    init_modules.train()
    optimizer = torch.optim.SGD(init_modules.parameters(), lr=0.1)
    for x in loader:
        features = student(x.cuda())
        with torch.no_grad():
            wanted = teacher_net(x.cuda())
        loss = nn.functional.mse_loss(init_modules[0](features), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
