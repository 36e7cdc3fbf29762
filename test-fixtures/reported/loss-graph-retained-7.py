# Jetson, road following: beyond 400 images memory is full within an epoch. The test loss has nothing that frees its graph.
# https://github.com/NVIDIA-AI-IOT/jetbot/pull/117
import torch
import torch.nn.functional as F
import torchvision
from torch.utils.data import DataLoader

device = torch.device("cuda")
model = torchvision.models.resnet18(weights="DEFAULT")
model.fc = torch.nn.Linear(512, 2)
model = model.to(device)


def fit(train_dataset, test_dataset, epochs=70):
    train_loader = DataLoader(train_dataset, batch_size=16, shuffle=True, num_workers=4)
    test_loader = DataLoader(test_dataset, batch_size=16, shuffle=True, num_workers=4)
    best_loss = 1e9
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(epochs):
        model.train()
        train_loss = 0.0
        for images, labels in iter(train_loader):
            images = images.to(device)
            labels = labels.to(device)
            optimizer.zero_grad()
            outputs = model(images)
            loss = F.mse_loss(outputs, labels)
            train_loss += loss  # expect: graph-retained-after-backward
            loss.backward()
            optimizer.step()
        train_loss /= len(train_loader)

        model.eval()
        test_loss = 0.0
        for images, labels in iter(test_loader):
            images = images.to(device)
            labels = labels.to(device)
            outputs = model(images)  # expect: eval-without-no-grad
            loss = F.mse_loss(outputs, labels)
            test_loss += loss  # expect: loss-graph-retained
        test_loss /= len(test_loader)

        print("%f, %f" % (train_loss, test_loss))
        if test_loss < best_loss:
            torch.save(model.state_dict(), "best_steering_model_xy.pth")
            best_loss = test_loss
