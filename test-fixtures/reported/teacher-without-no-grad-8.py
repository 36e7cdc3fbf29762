# A mean teacher for semi-supervised segmentation: made by the same function as the student, updated by hand.
# Form of https://github.com/Flashkong/Source-Free-Object-Detection-by-Learning-to-Overlook-Domain-Style/issues/1:
# "If it is not detached, gradients are calculated when backward is executed."
import torch
from torch import nn, optim
from torch.nn import functional as F


def create_model():
    net = nn.Sequential(nn.Conv3d(1, 16, 3, padding=1), nn.ReLU(), nn.Conv3d(16, 2, 1))
    return net.cuda()


def update_ema_variables(model, ema_model, alpha, global_step):
    alpha = min(1 - 1 / (global_step + 1), alpha)
    for ema_param, param in zip(ema_model.parameters(), model.parameters()):
        ema_param.data.mul_(alpha).add_(param.data, alpha=1 - alpha)


if __name__ == "__main__":
    model = create_model()
    ema_model = create_model()
    model.train()
    ema_model.train()
    optimizer = optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    trainloader = torch.utils.data.DataLoader([(torch.randn(1, 64, 64, 64), torch.ones(64, 64, 64).long())] * 8)
    iter_num = 0
    for epoch_num in range(100):
        for volume_batch, label_batch in trainloader:
            volume_batch, label_batch = volume_batch.cuda(), label_batch.cuda()
            ema_inputs = volume_batch + torch.randn_like(volume_batch) * 0.1
            outputs = model(volume_batch)
            ema_output = ema_model(ema_inputs)  # expect: teacher-without-no-grad
            consistency_loss = F.mse_loss(outputs.softmax(1), ema_output.softmax(1))
            loss = F.cross_entropy(outputs, label_batch) + 0.1 * consistency_loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            iter_num += 1
            update_ema_variables(model, ema_model, 0.99, iter_num)
