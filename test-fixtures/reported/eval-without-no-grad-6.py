# `volatile=True` of old scripts does nothing any more: https://github.com/pytorch/pytorch/issues/4932
import torch
from torch import nn
from torch.autograd import Variable
from torchvision.models import resnet18

model = nn.DataParallel(resnet18()).cuda()
criterion = nn.CrossEntropyLoss().cuda()


def validate(val_loader):
    model.eval()
    losses = 0.0
    for images, target in val_loader:
        images = Variable(images.cuda(), volatile=True)
        target = Variable(target.cuda(), volatile=True)
        output = model(images)  # expect: eval-without-no-grad
        losses += criterion(output, target).item()
    return losses


print(validate(torch.load("batches.pt")))
