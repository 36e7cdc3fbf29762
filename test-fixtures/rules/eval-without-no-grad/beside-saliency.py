"""One loop wants gradients, the one beside it does not."""
import torch
from torch import nn
from torch.utils.data import DataLoader
from torchvision.models import resnet18

model = resnet18()
model.load_state_dict(torch.load("weights.pt", map_location="cpu"))
model.cuda()
model.eval()
test_loader = DataLoader(torch.load("test.pt"), batch_size=64)

correct = 0
for images, labels in test_loader:
    out = model(images.cuda())  # expect: eval-without-no-grad
    correct += (out.argmax(1) == labels.cuda()).sum().item()
print(correct)

for images, labels in test_loader:
    images = images.cuda().requires_grad_()
    out = model(images)
    out[:, 0].sum().backward()
    print(images.grad.abs().max().item())


def explain_first(net: nn.Module, val_loader):
    net.eval()
    for images, labels in val_loader:
        images.requires_grad = True
        net(images).max().backward()
        print(images.grad.abs().max().item())
    for batch, labels in val_loader:
        print((net(batch).argmax(1) == labels).float().mean().item())  # expect: eval-without-no-grad
