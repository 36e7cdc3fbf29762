# Mean teacher whose consistency loss walks the teacher.
import copy

import torch
import torch.nn.functional as F


def train(student, labelled, unlabelled):
    student = student.cuda()
    ema_model = copy.deepcopy(student)
    optimizer = torch.optim.SGD(student.parameters(), lr=0.01)
    for (x, y), u in zip(labelled, unlabelled):
        u = u.cuda()
        sup = F.cross_entropy(student(x.cuda()), y.cuda())
        pseudo = ema_model(u)  # expect: teacher-without-no-grad
        consistency = F.mse_loss(student(u).softmax(1), pseudo.softmax(1))
        optimizer.zero_grad()
        (sup + consistency).backward()
        optimizer.step()
