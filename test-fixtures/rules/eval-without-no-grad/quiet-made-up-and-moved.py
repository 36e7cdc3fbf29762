"""Try-outs whose made-up data is moved or wrapped before the forward."""
import torch
from torch import nn
from torch.autograd import Variable


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Conv3d(1, 8, 3)

    def forward(self, x):
        return self.body(x)


def summarise(model: nn.Module, size, batch=1, device="cuda"):
    inputs = torch.randn(size=(batch, 3, *size))
    inputs = inputs.to(device)
    model = model.to(device)
    model.eval()
    output = model(inputs)
    print(sum(p.numel() for p in model.parameters()))


if __name__ == "__main__":
    net = Net().cuda().eval()
    data = Variable(torch.randn(1, 1, 128, 128, 32)).cuda()
    out = net(data)
    print("out size: {}".format(out.size()))
