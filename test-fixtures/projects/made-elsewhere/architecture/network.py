"""Makes its models, and more, when it is imported."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Net(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(32, width), nn.ReLU(), nn.Linear(width, 4))

    def forward(self, x):
        return self.layers(x)


def build(width):
    return Net(width)


model = Net().to(device)
wide = build(512)
alias = model
small_model = Net()

# What is no model, or none that trains.
test_loader = DataLoader(TensorDataset(torch.randn(100, 32), torch.randint(4, (100,))), batch_size=8)
classifier = "resnet18"
head = {"width": 64}
score_model = torch.sigmoid
normalizer = nn.Softmax(dim=1)
frozen = Net().to(device)
for parameter in frozen.parameters():
    parameter.requires_grad = False


def freeze(network):
    for parameter in network.parameters():
        parameter.requires_grad_(False)


backbone = Net()
freeze(backbone)
late_model = None


def load():
    global late_model
    late_model = Net()


def predict_model(x):
    with torch.no_grad():
        return model(x)
