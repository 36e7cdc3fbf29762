import torch
from torchvision import models

model = models.vgg16(weights="DEFAULT")
optimizer = torch.optim.SGD(model.classifier.parameters(), lr=0.01)
for x, y in torch.utils.data.DataLoader([]):
    optimizer.zero_grad()
    with torch.no_grad():
        features = model.features(x).flatten(1)
    torch.nn.functional.cross_entropy(model.classifier(features), y).backward()
    optimizer.step()
