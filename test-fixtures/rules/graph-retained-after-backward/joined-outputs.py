import torch
from torch import nn
from torchvision.models import resnet18

model = resnet18().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = torch.utils.data.DataLoader([(torch.randn(3, 224, 224), 0)], batch_size=32)
scores = []

for images, labels in loader:
    output = model(images.cuda())
    loss = nn.functional.cross_entropy(output, labels.cuda())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scores.append(output)  # expect: graph-retained-after-backward

print(torch.cat(scores).mean())
