import torch
from torch import nn

model = nn.Linear(128, 10).cuda()
loader = torch.utils.data.DataLoader([(torch.randn(128), 0)] * 64, batch_size=8)
predictions = []
losses = []

with torch.no_grad():
    for x, y in loader:
        outputs = model(x.cuda())
        predicted = outputs.argmax(1).cpu()
        for p in predicted:
            predictions.append(p.item())
        for value in outputs.argmax(1).tolist():
            predictions.append(value)
        for label in y:
            predictions.append(label.item())
        losses.append(outputs.mean().item())

for total in losses:
    print(total)
