"""The framework is named in the files that this one imports, nowhere here."""
from common import *
from models import Net


def evaluate(val_loader):
    model = Net().cuda()
    model.eval()
    correct = 0
    for x, y in val_loader:
        correct += (F.softmax(model(x.cuda()), dim=1).argmax(1) == y.cuda()).sum().item()  # expect: eval-without-no-grad
    return correct
