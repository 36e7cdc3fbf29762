# Regularized classifier: "the zero_grad is outside the training stage, the gradients will be accumulated".
# https://github.com/salesforce/corr_based_prediction/issues/1
import torch
import torch.nn as nn
import tqdm

model = nn.Sequential(nn.Conv2d(3, 64, 3), nn.ReLU(), nn.Flatten(), nn.LazyLinear(10)).cuda()
criterion = nn.CrossEntropyLoss()


def correlation_reg(hid, targets):
    return sum(hid[targets == k].var(0).mean() for k in range(10))


def train(trainloader, optimizer, beta):
    model.train()
    total_loss = 0
    optimizer.zero_grad()
    for batch_idx in tqdm.tqdm(range(len(trainloader)), total=len(trainloader)):
        inputs, targets = next(iter(trainloader))
        inputs, targets = inputs.cuda(), targets.cuda()
        outputs = model(inputs)
        loss = criterion(outputs, targets)
        total_loss_ = loss + beta * correlation_reg(outputs, targets)
        total_loss_.backward()
        total_loss += loss.data.cpu()
        optimizer.step()  # expect: missing-zero-grad
    return total_loss / (batch_idx + 1)


def main(trainloader, epochs, lr):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    for epoch in range(epochs):
        print(train(trainloader, optimizer, 1.0))
