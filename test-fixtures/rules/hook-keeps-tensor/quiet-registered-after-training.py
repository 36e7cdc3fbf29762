"""A notebook that looks at one batch's activations once it has trained."""
import torch
from torch import nn
from torchvision.models import resnet18

model = resnet18().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = torch.utils.data.DataLoader([(torch.randn(3, 224, 224), 0)], batch_size=32)

for images, labels in loader:
    loss = nn.functional.cross_entropy(model(images.cuda()), labels.cuda())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

outputs = []


def hook(module, args, output):
    outputs.append(output)


model.layer4.register_forward_hook(hook)
_ = model(images.cuda())
print(outputs)
