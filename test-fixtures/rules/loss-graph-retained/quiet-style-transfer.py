# Losses live in modules and are summed inside the closure that goes backward.
import torch
import torch.nn.functional as F
from torch import nn, optim


def gram(x):
    b, c, h, w = x.size()
    features = x.view(b * c, h * w)
    return features @ features.t() / (b * c * h * w)


class StyleLoss(nn.Module):
    def __init__(self, target):
        super().__init__()
        self.target = gram(target).detach()
        self.loss = torch.tensor(0.0)

    def forward(self, x):
        self.loss = F.mse_loss(gram(x), self.target)
        return x


image = torch.rand(1, 3, 64, 64, requires_grad=True)
style_losses = [StyleLoss(torch.rand(1, 8, 64, 64)), StyleLoss(torch.rand(1, 8, 64, 64))]
layers = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), style_losses[0], nn.Conv2d(8, 8, 3, padding=1), style_losses[1])
layers.eval().requires_grad_(False)
optimizer = optim.LBFGS([image])
run = [0]

while run[0] <= 300:

    def closure():
        with torch.no_grad():
            image.clamp_(0, 1)
        optimizer.zero_grad()
        layers(image)
        style_score = 0
        for sl in style_losses:
            style_score += sl.loss
        style_score.backward()
        run[0] += 1
        if run[0] % 50 == 0:
            print(run[0], style_score.item())
        return style_score

    optimizer.step(closure)
