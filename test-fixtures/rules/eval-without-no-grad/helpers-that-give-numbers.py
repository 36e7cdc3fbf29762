# The model is put into eval mode by whoever calls the helper, and the helper gives numbers: the call is the place.
import torch
from torch import nn
from torchvision.models import resnet18

model = resnet18().cuda()
model.eval()


def features(image):
    return model(image.cuda()).cpu().detach().numpy()


def features_without_graph(image):
    with torch.no_grad():
        return model(image.cuda()).cpu().numpy()


def saliency(image):
    image.requires_grad_()
    model(image.cuda()).max().backward()
    return image.grad.numpy()


@torch.no_grad()
def all_features(images):
    return [features(image) for image in images]


collected = []
for image in torch.randn(100, 1, 3, 224, 224):
    collected.append(features(image))  # expect: eval-without-no-grad
    collected.append(features_without_graph(image))


def explain(images):
    model.eval()
    return [saliency(image) for image in images]


class Net:
    """The interface of scikit-learn."""

    def __init__(self, module: nn.Module, loss: nn.Module):
        self.module_ = module.cuda()
        self.loss_ = loss
        self.optimizer_ = torch.optim.SGD(self.module_.parameters(), lr=0.1)

    def infer(self, x):
        return self.module_(x.cuda())

    def train_step(self, x, y):
        self.module_.train()
        self.optimizer_.zero_grad()
        loss = self.loss_(self.infer(x), y.cuda())
        loss.backward()
        self.optimizer_.step()

    def validation_step(self, x, y):
        self.module_.eval()
        predicted = self.infer(x)  # expect: eval-without-no-grad
        return self.loss_(predicted, y.cuda()).item()
