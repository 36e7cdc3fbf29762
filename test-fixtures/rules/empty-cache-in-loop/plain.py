import torch
import torch.nn as nn
from torch.utils.data import DataLoader
from torchvision import datasets, models, transforms

transform = transforms.Compose([transforms.Resize((224, 224)), transforms.ToTensor()])
loader = DataLoader(datasets.ImageFolder("flowers", transform), batch_size=32, shuffle=True)
model = models.resnet18(num_classes=102).cuda()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

for epoch in range(10):
    model.train()
    for images, labels in loader:
        images, labels = images.cuda(), labels.cuda()
        optimizer.zero_grad()
        loss = criterion(model(images), labels)
        loss.backward()
        optimizer.step()
        torch.cuda.empty_cache()  # expect: empty-cache-in-loop
    print(f"epoch {epoch}: {loss.item():.3f}")
