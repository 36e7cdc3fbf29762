# A classifier is resumed, first on one GPU and then on two: "torch.load() out of memory no matter what".
# https://discuss.pytorch.org/t/multi-gpu-torch-load-out-of-memory/117775
import argparse

import torch
import torch.backends.cudnn as cudnn
import torch.nn as nn
import torch.optim as optim
import torchvision

parser = argparse.ArgumentParser()
parser.add_argument("--resume", "-r", action="store_true")
args = parser.parse_args()
device = "cuda" if torch.cuda.is_available() else "cpu"
best_acc = 0
start_epoch = 0
trainset = torchvision.datasets.CIFAR10(root="./data", train=True)
trainloader = torch.utils.data.DataLoader(trainset, batch_size=128, shuffle=True)

net = torchvision.models.resnet152(num_classes=10).to(device)
if device == "cuda":
    net = nn.DataParallel(net)
    cudnn.benchmark = True

if args.resume:
    checkpoint = torch.load("checkpoint/ckpt.t7")  # expect: load-without-map-location
    net.load_state_dict(checkpoint["state"])
    best_acc = checkpoint["acc"]
    start_epoch = checkpoint["epoch"]

criterion = nn.CrossEntropyLoss()
optimizer = optim.SGD(net.parameters(), lr=0.1, momentum=0.9)


def train(epoch):
    net.train()
    for inputs, targets in trainloader:
        inputs, targets = inputs.to(device), targets.to(device)
        optimizer.zero_grad()
        loss = criterion(net(inputs), targets)
        loss.backward()
        optimizer.step()


for epoch in range(start_epoch, start_epoch + 200):
    train(epoch)
