# The values that are kept here have left the graph: item, detach, data, tolist, numpy, float, int, str, indices,
# comparisons, integer casts, shapes.
import torch
from torch import nn
from torch.utils.data import DataLoader

model = nn.Sequential(nn.Linear(20, 64), nn.Tanh(), nn.Linear(64, 5))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters())
loader = DataLoader([(torch.randn(20), i % 5) for i in range(1000)], batch_size=50)

losses, norms, predictions, order, sizes, rounded, lines, probabilities, raw, logits_seen = [], [], [], [], [], [], [], [], [], []
total = 0.0
correct = 0
hits = 0
running = 0.0
history = {}

for step, (x, y) in enumerate(loader):
    optimizer.zero_grad()
    out = model(x)
    loss = criterion(out, y)
    loss.backward()
    optimizer.step()

    losses.append(loss.item())
    total += loss.item() * x.size(0)
    running = 0.9 * running + 0.1 * float(loss)
    history[step] = loss.detach()
    raw.append(loss.data)
    norms.append(float(out.norm()))
    rounded.append(int(loss * 1000))
    lines.append(str(loss))
    lines.append(f"{step}: {loss:.4f}")
    logits_seen.append(out.tolist())
    probabilities.extend(out.softmax(dim=1).detach().cpu().numpy())
    predictions.append(out.argmax(dim=1))
    predictions += torch.max(out, 1)[1].tolist()
    order.append(torch.argsort(out, dim=1))
    correct += (out.argmax(1) == y).sum()
    hits += (out > 0).float().mean()
    sizes.append(out.shape[0])
    sizes.append(out.size())
    rounded.append((out * 10).long())

print(total / 1000, running, correct, hits, torch.stack(raw).mean())
