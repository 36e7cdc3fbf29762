# Transfer learning notebook: "we are missing zero_grad in the example, which can cause gradients to accumulate".
# https://github.com/udacity/deep-learning-v2-pytorch/pull/160
import time

import torch
from torch import nn, optim
from torchvision import models


def time_devices(trainloader):
    model = models.densenet121(weights="DEFAULT")
    for param in model.parameters():
        param.requires_grad = False
    model.classifier = nn.Sequential(nn.Linear(1024, 500), nn.ReLU(), nn.Linear(500, 2), nn.LogSoftmax(dim=1))
    for device in ["cpu", "cuda"]:
        criterion = nn.NLLLoss()
        optimizer = optim.Adam(model.classifier.parameters(), lr=0.001)
        model.to(device)
        for ii, (inputs, labels) in enumerate(trainloader):
            inputs, labels = inputs.to(device), labels.to(device)
            start = time.time()
            outputs = model.forward(inputs)
            loss = criterion(outputs, labels)
            loss.backward()
            optimizer.step()  # expect: missing-zero-grad
            if ii == 3:
                break
        print(f"Device = {device}; Time per batch: {(time.time() - start) / 3:.3f} seconds")
