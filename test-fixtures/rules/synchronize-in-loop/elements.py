import torch
import torch.nn.functional as F
from torch import nn

device = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Linear(128, 10).to(device)
loader = torch.utils.data.DataLoader([(torch.randn(128), 0)] * 64, batch_size=8)
predictions = []
scores = []
correct = 0

with torch.no_grad():
    for x, y in loader:
        outputs = model(x.to(device))
        _, predicted = torch.max(outputs, 1)
        probabilities = F.softmax(outputs, dim=1)[:, 1]
        for p in predicted:
            predictions.append(p.item())  # expect: synchronize-in-loop
        scores.extend([s.item() for s in probabilities])  # expect: synchronize-in-loop
        for index, (p, t) in enumerate(zip(predicted, y)):
            correct += int(p == t)
        for p, t in zip(predicted, y):
            if p.item() == t:  # expect: synchronize-in-loop
                correct += 1
