import torch
import torch.nn as nn
from torch.utils.data import DataLoader
from torchvision import datasets, models, transforms

accumulation_steps = 8
train_set = datasets.ImageFolder("train", transforms.Compose([transforms.RandomResizedCrop(224), transforms.ToTensor()]))
loader = DataLoader(train_set, batch_size=32, shuffle=True, num_workers=4, drop_last=True)
model = models.resnet50(num_classes=len(train_set.classes)).cuda()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

for epoch in range(90):
    for i, (images, labels) in enumerate(loader):
        optimizer.zero_grad()  # expect: zero-grad-each-microbatch
        outputs = model(images.cuda())
        loss = criterion(outputs, labels.cuda()) / accumulation_steps
        loss.backward()
        if (i + 1) % accumulation_steps == 0:
            optimizer.step()
