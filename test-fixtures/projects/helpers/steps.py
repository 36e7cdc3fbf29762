import torch.nn.functional as F


def train_step(model, batch, optimizer):
    images, labels = batch
    loss = F.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss
