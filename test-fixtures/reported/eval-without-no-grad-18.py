# Validation of satellite images: "no_grad() is available since 0.4 and prevents out of memory during validation".
# https://github.com/mapbox/robosat/pull/109
import collections

import torch
from torch.utils.data import DataLoader
from torchvision.models.segmentation import fcn_resnet50
from tqdm import tqdm


def train(loader, num_classes, device, net, optimizer, criterion):
    num_samples = 0
    running_loss = 0
    net.train()
    for images, masks, tiles in tqdm(loader, desc="Train", unit="batch", ascii=True):
        images, masks = images.to(device), masks.to(device)
        num_samples += int(images.size(0))
        optimizer.zero_grad()
        outputs = net(images)["out"]
        loss = criterion(outputs, masks)
        loss.backward()
        optimizer.step()
        running_loss += loss.item()
    return {"loss": running_loss / num_samples}


def validate(loader, num_classes, device, net, criterion):
    num_samples = 0
    running_loss = 0
    net.eval()
    for images, masks, tiles in tqdm(loader, desc="Validate", unit="batch", ascii=True):
        images, masks = images.to(device), masks.to(device)
        num_samples += int(images.size(0))
        outputs = net(images)["out"]  # expect: eval-without-no-grad
        loss = criterion(outputs, masks)
        running_loss += loss.item()
    return {"loss": running_loss / num_samples}


def main(train_set, val_set, epochs):
    device = torch.device("cuda")
    net = torch.nn.DataParallel(fcn_resnet50(num_classes=2)).to(device)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-4)
    criterion = torch.nn.CrossEntropyLoss().to(device)
    train_loader = DataLoader(train_set, batch_size=2, shuffle=True, drop_last=True)
    val_loader = DataLoader(val_set, batch_size=2, shuffle=False, drop_last=True)
    history = collections.defaultdict(list)
    for epoch in range(epochs):
        for key, value in train(train_loader, 2, device, net, optimizer, criterion).items():
            history["train " + key].append(value)
        for key, value in validate(val_loader, 2, device, net, criterion).items():
            history["val " + key].append(value)
