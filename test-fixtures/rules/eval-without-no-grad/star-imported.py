# torch comes along with the model: the fix needs no import of its own.
from model import *

model = torch.load("model.pt").cuda()


def test(test_loader):
    model.eval()
    right = 0
    for x, y in test_loader:
        outputs = model(x.cuda())  # expect: eval-without-no-grad
        right += (torch.argmax(outputs, 1) == y.cuda()).sum().item()
    return right
