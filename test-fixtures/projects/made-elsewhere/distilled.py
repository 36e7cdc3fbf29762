"""Teachers that a file without any optimizer makes, for students that this file makes or imports."""
import torch
from architecture import network
from architecture.network import Net, alias as teacher, frozen as frozen_teacher, wide
from torch.nn.functional import mse_loss

train_loader = [torch.randn(8, 32).cuda() for _ in range(1000)]


def of_own_name():
    student = Net().cuda()
    optimizer = torch.optim.Adam(student.parameters())
    for x in train_loader:
        optimizer.zero_grad()
        soft = teacher(x)  # expect: teacher-without-no-grad
        loss = mse_loss(student(x), soft)
        loss.backward()
        optimizer.step()


def of_other_name():
    target_net = wide.cuda().eval()
    optimizer = torch.optim.Adam(network.small_model.parameters())
    for x in train_loader:
        optimizer.zero_grad()
        loss = mse_loss(network.small_model(x), target_net(x))  # expect: teacher-without-no-grad
        loss.backward()
        optimizer.step()


def of_frozen():
    student = Net().cuda()
    optimizer = torch.optim.Adam(student.parameters())
    for x in train_loader:
        optimizer.zero_grad()
        loss = mse_loss(student(x), frozen_teacher(x))
        loss.backward()
        optimizer.step()
