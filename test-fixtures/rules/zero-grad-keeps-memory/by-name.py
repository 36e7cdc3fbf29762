def train(model, optimizer, loader, criterion):
    import torch

    model.train()
    for x, y in loader:
        optimizer.zero_grad(set_to_none=False)  # expect: zero-grad-keeps-memory
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
    return torch.tensor(0)
