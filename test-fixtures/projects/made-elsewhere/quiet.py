"""What comes from other files under the name of a model and is none, or keeps no graph."""
import torch
from architecture.circle import model as round_model
from architecture.network import (
    backbone,
    classifier,
    frozen,
    head,
    late_model,
    normalizer,
    predict_model,
    score_model,
    test_loader,
)
from architecture.missing import model as missing_model

print(torch.cuda.is_available(), len(test_loader))
labels = []
for x, y in test_loader:
    labels.append(frozen(x).argmax(dim=1).tolist())
for x, y in test_loader:
    labels.append(backbone(x).argmax(dim=1).tolist())
for x, y in test_loader:
    labels.append(score_model(x).argmax(dim=1).tolist())
for x, y in test_loader:
    labels.append(normalizer(x).argmax(dim=1).tolist())
for x, y in test_loader:
    labels.append(predict_model(x).argmax(dim=1).tolist())
for x, y in test_loader:
    labels.append(round_model(x).argmax(dim=1).tolist())
for x, y in test_loader:
    labels.append(missing_model(x).argmax(dim=1).tolist())
for x, y in test_loader:
    labels.append(late_model(x).argmax(dim=1).tolist())
for x, y in test_loader:
    labels.append(classifier(x).argmax(dim=1).tolist())
for x, y in test_loader:
    labels.append(head(x).argmax(dim=1).tolist())
print(labels)
