import torch
import torchvision

net = torchvision.models.vgg16(weights="IMAGENET1K_V1")
net.classifier[6] = torch.nn.Linear(4096, 5)
optimizer = torch.optim.Adam(params=list(net.classifier.parameters()))  # expect: backbone-not-frozen
for epoch in range(10):
    for x, y in torch.utils.data.DataLoader([]):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()
