"""Nobody trains the network, but gradients go through it to what is trained."""
import torch
from torch import nn
from torchvision.models import vgg19

generator = nn.Sequential(nn.Conv2d(3, 64, 3, padding=1), nn.ReLU(), nn.Conv2d(64, 3, 3, padding=1)).cuda()
vgg = vgg19(weights="DEFAULT").features.cuda().eval()
optimizer = torch.optim.Adam(generator.parameters(), lr=1e-4)
criterion = nn.L1Loss()


def train(loader):
    for low, high in loader:
        restored = generator(low.cuda())
        with torch.no_grad():
            wanted = vgg(high.cuda())
        loss = criterion(vgg(restored), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def perturb(pretrained_model, image, label):
    pretrained_model = vgg19().eval()
    image.requires_grad = True
    loss = nn.functional.cross_entropy(pretrained_model(image), label)
    loss.backward()
    return image + 0.01 * image.grad.sign()


def perturb_a_copy(image, label):
    pretrained_model = vgg19().eval()
    start = image.detach().clone().requires_grad_()
    loss = nn.functional.cross_entropy(pretrained_model(start), label)
    loss.backward()
    return start + 0.01 * start.grad.sign()
