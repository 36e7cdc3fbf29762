# "Why is there no optimizer.zero_grad() in base_trainer.py? There must be something wrong."
# https://github.com/yastrebksv/TennisCourtDetector/issues/7
import argparse

import torch
import torch.nn as nn
import torch.optim as optim


class BallTrackerNet(nn.Module):
    def __init__(self, out_channels=15):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 3, padding=1)
        self.conv2 = nn.Conv2d(64, out_channels, 3, padding=1)

    def forward(self, x):
        return self.conv2(torch.relu(self.conv1(x)))


def train(model, train_loader, optimizer, criterion, device, epoch, max_iters=1000):
    model.train()
    losses = []
    max_iters = min(max_iters, len(train_loader))
    for iter_id, batch in enumerate(train_loader):
        out = model(batch[0].float().to(device))
        gt_hm_hp = batch[1].float().to(device)
        loss = criterion(torch.sigmoid(out), gt_hm_hp)
        loss.backward()
        optimizer.step()  # expect: missing-zero-grad
        losses.append(loss.item())
        print("train, epoch = {}, iter = [{}|{}], loss = {}".format(epoch, iter_id, max_iters, loss.item()))
        if iter_id > max_iters:
            break
    return sum(losses) / len(losses)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--num_epochs", type=int, default=500)
    parser.add_argument("--lr", type=float, default=1e-5)
    args = parser.parse_args()
    train_loader = torch.utils.data.DataLoader([(torch.randn(3, 360, 640), torch.rand(15, 360, 640))] * 8)
    device = "cuda"
    model = BallTrackerNet().to(device)
    criterion = nn.MSELoss()
    optimizer = optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.num_epochs):
        train(model, train_loader, optimizer, criterion, device, epoch)
