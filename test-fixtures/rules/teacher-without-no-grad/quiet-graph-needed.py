"""Nobody trains the network, but gradients go through it to what is trained, and its weights ask for none."""
import lpips
import torch
from torch import nn
from torchvision.models import vgg19

generator = nn.Sequential(nn.Conv2d(3, 64, 3, padding=1), nn.ReLU(), nn.Conv2d(64, 3, 3, padding=1)).cuda()
vgg = vgg19(weights="DEFAULT").features.cuda().eval()
vgg.requires_grad_(False)
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


class FrozenFeatures(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = vgg19(weights="DEFAULT").features
        for parameter in self.parameters():
            parameter.requires_grad = False

    def forward(self, image):
        return self.layers(image)


frozen = FrozenFeatures().cuda()
frozen.eval()
# A library's network may freeze itself.
distance = lpips.LPIPS(net="vgg").cuda()
distance.eval()


def train_with_networks_that_freeze_themselves(loader):
    for low, high in loader:
        restored = generator(low.cuda())
        with torch.no_grad():
            wanted = frozen(high.cuda())
        loss = criterion(frozen(restored), wanted) + distance(restored, high.cuda()).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


critic = nn.Sequential(nn.Conv2d(3, 64, 3), nn.ReLU(), nn.Conv2d(64, 1, 3)).cuda().eval()


def refine(image):
    # Gradients for the image alone.
    restored = generator(image)
    score = critic(restored).mean()
    return restored - 0.1 * torch.autograd.grad(score, restored)[0]
