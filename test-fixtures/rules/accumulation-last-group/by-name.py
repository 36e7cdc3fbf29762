# The optimizer comes from nowhere.
def train(model, criterion, optimizer, loader, accumulation=4):
    for i in range(len(loader)):
        x, y = loader[i]
        loss = criterion(model(x), y) / accumulation
        loss.backward()
        if i % accumulation == accumulation - 1:  # expect: accumulation-last-group
            optimizer.step()
            optimizer.zero_grad()
