# Transfer learning exercise whose loop forgot the line.
import torch
from torch import nn, optim
from torchvision import models

device = torch.device("cuda")
model = models.densenet121(weights="DEFAULT")
for param in model.parameters():
    param.requires_grad = False
model.classifier = nn.Sequential(nn.Linear(1024, 256), nn.ReLU(), nn.Linear(256, 2), nn.LogSoftmax(dim=1))
model.to(device)
criterion = nn.NLLLoss()
optimizer = optim.Adam(model.classifier.parameters(), lr=0.003)
trainloader = [(torch.rand(64, 3, 224, 224), torch.randint(2, (64,))) for _ in range(10)]
testloader = trainloader[:2]

steps, running_loss, print_every = 0, 0, 5
for epoch in range(1):
    for inputs, labels in trainloader:
        steps += 1
        inputs, labels = inputs.to(device), labels.to(device)
        logps = model.forward(inputs)
        loss = criterion(logps, labels)
        loss.backward()
        optimizer.step()  # expect: missing-zero-grad
        running_loss += loss.item()
        if steps % print_every == 0:
            accuracy = 0
            model.eval()
            with torch.no_grad():
                for inputs, labels in testloader:
                    logps = model.forward(inputs.to(device))
                    accuracy += (logps.argmax(1) == labels.to(device)).float().mean().item()
            print(running_loss / print_every, accuracy / len(testloader))
            running_loss = 0
            model.train()
