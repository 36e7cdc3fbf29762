import torch
from torch import nn


def train(model, train_loader, val_loader, evaluate):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    best_accuracy = 0.0
    best_state = None
    for epoch in range(10):
        model.train()
        for x, y in train_loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
        accuracy = evaluate(model, val_loader)
        if accuracy > best_accuracy:
            best_accuracy = accuracy
            best_state = {key: value.to("cpu", copy=True) for key, value in model.state_dict().items()}  # expect: best-state-aliased
    model.load_state_dict(best_state)
    return model
