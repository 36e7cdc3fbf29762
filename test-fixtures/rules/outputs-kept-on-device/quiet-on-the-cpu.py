"""The script trains on the GPU and collects the outputs of models that never leave the CPU."""
import torch
from torch import nn
from torch.utils.data import DataLoader
from torchvision.models import resnet50

host = torch.device("cpu")
loader = DataLoader([torch.randn(3, 224, 224) for _ in range(1000)], batch_size=64)
trained = nn.Linear(1000, 10).cuda()


class Features(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Flatten(), nn.Linear(3 * 224 * 224, 512))

    def forward(self, images):
        return self.layers(images)


backbone = resnet50(weights="DEFAULT")
backbone.eval()
features = []
with torch.no_grad():
    for images in loader:
        features.append(backbone(images))
features = torch.cat(features)
print(sum(parameter.numel() for parameter in backbone.parameters()))


def extract(model, batches):
    model.eval()
    outputs = []
    with torch.no_grad():
        for images in batches:
            outputs.append(model(images.to(host)))
    return torch.cat(outputs)


own = Features().to(host)
own.load_state_dict(torch.load("features.pt", map_location="cpu"))
more = extract(own, loader)

for row in torch.cat([features[:, :500], more[:, :500]], dim=1).split(64):
    trained(row.cuda()).sum().backward()
