# Total, direction and class losses of a traffic light network are summed as tensors: "+= loss.item() was it, now it works".
# https://github.com/samuelyu2002/ImVisible/issues/2
import torch
import torch.nn as nn
from torch.utils.data import DataLoader
from torchvision.models import mobilenet_v2


class Lights(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = mobilenet_v2(num_classes=160)
        self.mode = nn.Linear(160, 5)
        self.direction = nn.Linear(160, 4)

    def forward(self, images):
        features = self.body(images)
        return self.mode(features), self.direction(features)


def loss_fn(pred_classes, pred_direc, points, mode):
    mse = nn.functional.mse_loss(pred_direc, points)
    cross_entropy = nn.functional.cross_entropy(pred_classes, mode)
    return mse + 0.5 * cross_entropy, mse, cross_entropy


def train(train_set, epochs=800):
    net = Lights().cuda()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    train_losses, train_mse = [], []
    for epoch in range(epochs):
        net.train()
        running_loss = 0.0
        running_loss_mse = 0.0
        running_loss_ce = 0.0
        for j, data in enumerate(DataLoader(train_set, batch_size=32, shuffle=True)):
            optimizer.zero_grad()
            images = data["image"].type(torch.FloatTensor).cuda()
            mode, points = data["mode"].cuda(), data["points"].cuda()
            pred_classes, pred_direc = net(images)
            loss, mse, cross_entropy = loss_fn(pred_classes, pred_direc, points, mode)
            loss.backward()
            optimizer.step()
            running_loss += loss  # expect: graph-retained-after-backward
            running_loss_mse += mse  # expect: graph-retained-after-backward
            running_loss_ce += cross_entropy  # expect: graph-retained-after-backward
        print("Average training loss: " + str(running_loss / (j + 1)), running_loss_ce / (j + 1))
        train_mse.append(running_loss_mse / (j + 1))  # expect: graph-retained-after-backward
        train_losses.append(running_loss / (j + 1))  # expect: graph-retained-after-backward
