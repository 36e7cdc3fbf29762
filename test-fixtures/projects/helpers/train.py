import torch
from models import Frozen, Net
from steps import train_step
from utils import detached, evaluate, identity, loss_value, loss_with_output, train_loss

model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
history, losses, values, pairs, same, cut, features = [], [], [], [], [], [], []

for epoch in range(10):
    for batch in train_loader:
        optimizer.zero_grad()
        loss = train_loss(model, batch)
        loss.backward()
        optimizer.step()
        losses.append(loss)  # expect: graph-retained-after-backward
        same.append(identity(loss))  # expect: graph-retained-after-backward
        cut.append(detached(loss))
        values.append(loss_value(model, batch))
    history.append(evaluate(model, val_loader))

probe = []
for batch in probe_loader:
    probe.append(train_loss(model, batch))  # expect: loss-graph-retained

for batch in probe_loader:
    loss, predicted = loss_with_output(model, batch)
    pairs.append((loss.item(), predicted))

extractor = Frozen().cuda()
for images in image_loader:
    features.append(extractor(images).mean())

# The backward is in the other file: which graph it frees is not seen from here.
stepped = []
for batch in train_loader:
    stepped.append(train_step(model, batch, optimizer))
