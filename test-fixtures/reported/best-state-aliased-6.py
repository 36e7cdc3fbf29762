# "Shallow copy when finding best_model": the name and the model are one object, tested after the last epoch.
# https://github.com/zhangj111/astnn/issues/8
import torch
import torch.nn as nn


def main(batches, val_batches, test_batches):
    model = nn.Sequential(nn.Linear(128, 100), nn.ReLU(), nn.Linear(100, 104)).cuda()
    optimizer = torch.optim.Adamax(model.parameters())
    loss_function = nn.CrossEntropyLoss()
    best_acc = 0.0
    best_model = model
    for epoch in range(15):
        for inputs, labels in batches:
            model.zero_grad()
            loss = loss_function(model(inputs.cuda()), labels.cuda())
            loss.backward()
            optimizer.step()
        total_acc = 0
        with torch.no_grad():
            for inputs, labels in val_batches:
                total_acc += (model(inputs.cuda()).argmax(1) == labels.cuda()).sum().item()
        if total_acc > best_acc:
            best_acc = total_acc
            best_model = model  # expect: best-state-aliased
    model = best_model
    with torch.no_grad():
        return sum((model(x.cuda()).argmax(1) == y.cuda()).sum().item() for x, y in test_batches)
