# vram: device=8GiB, budget=4GiB, optimizer=adam, precision=fp32, batch=4, input=float32[B,3,64,64], target=int64[B]<7, loss=cross_entropy, model=get_model(7)
import torch, torch.nn as nn
def conv_bn(i, o, s):
    return nn.Sequential(nn.Conv2d(i, o, 3, s, 1, bias=False), nn.BatchNorm2d(o), nn.ReLU6(inplace=True))
class InvertedResidual(nn.Module):
    def __init__(self, inp, oup, stride, expand_ratio):
        super().__init__()
        assert stride in [1, 2]
        hidden = round(inp * expand_ratio)
        self.identity = stride == 1 and inp == oup
        self.conv = nn.Sequential(
            nn.Conv2d(inp, hidden, 1, bias=False), nn.BatchNorm2d(hidden), nn.ReLU6(inplace=True),
            nn.Conv2d(hidden, hidden, 3, stride, 1, groups=hidden, bias=False), nn.BatchNorm2d(hidden), nn.ReLU6(inplace=True),
            nn.Conv2d(hidden, oup, 1, bias=False), nn.BatchNorm2d(oup))
    def forward(self, x):
        return x + self.conv(x) if self.identity else self.conv(x)
class Net(nn.Module):
    def __init__(self, num_classes=1000):
        super().__init__()
        self.features = nn.Sequential(conv_bn(3, 16, 2), InvertedResidual(16, 16, 1, 2), InvertedResidual(16, 24, 2, 4), InvertedResidual(24, 24, 1, 4))
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(24, num_classes))
    def forward(self, x):
        x = self.features(x)
        x = x.mean(3).mean(2)
        return self.classifier(x)
def set_parameter_requires_grad(model, feature_extracting):
    if feature_extracting:
        for param in model.parameters():
            param.requires_grad = False
def get_model(n):
    model = Net()
    set_parameter_requires_grad(model, True)
    model.classifier[1] = nn.Linear(model.classifier[1].in_features, n)
    for p in model.features[-1].parameters():
        p.requires_grad = True
    for m in model.modules():
        if isinstance(m, nn.BatchNorm2d):
            m.eval()
    return model
