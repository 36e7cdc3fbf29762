"""Every prediction of the epoch is kept for the confusion matrix, with its graph."""
import torch
from torch import nn, optim
from tqdm.auto import tqdm

device = "cuda:0"
classifier = nn.Sequential(nn.Linear(768, 256), nn.Dropout(0.1), nn.ReLU(), nn.Linear(256, 20)).to(device)
optimizer = optim.Adam(classifier.parameters(), lr=2e-5)
criterion = nn.CrossEntropyLoss()
features = torch.randn(2000, 768).split(32)
targets = torch.randint(20, (2000,)).split(32)

for epoch in range(3):
    all_outputs, all_targets = [], []
    for x, y in tqdm(zip(features, targets), total=len(features)):
        x, y = x.to(device), y.to(device)
        outputs = classifier(x)
        loss = criterion(outputs, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        all_outputs.append(outputs.detach())  # expect: graph-retained-after-backward
        all_targets.append(y)
    hits = (torch.cat(all_outputs).argmax(1) == torch.cat(all_targets)).float().mean()
    print(f"epoch {epoch} training accuracy {hits.item():.3f}")
