"""First batch apart, attributes, a condition in the value, `from torch import cat`."""
import torch
from torch import cat
from torch.utils.data import DataLoader


def first_apart(model, val_loader):
    with torch.no_grad():
        for i, (images, labels) in enumerate(val_loader):
            logits = model(images)
            if i == 0:
                all_logits = logits
            else:
                all_logits = torch.cat((all_logits, logits), 0)  # expect: cat-in-loop
    return all_logits


class Collector:
    def __init__(self, dataset):
        self.loader = DataLoader(dataset, batch_size=8)
        self.embeddings = torch.zeros(0, 512)

    def collect(self, encoder):
        for batch in self.loader:
            with torch.no_grad():
                self.embeddings = cat([self.embeddings, encoder(batch)])  # expect: cat-in-loop


def conditional(model, test_loader):
    scores = None
    for x in test_loader:
        with torch.no_grad():
            score = model(x)
        scores = score if scores is None else torch.vstack([scores, score])  # expect: cat-in-loop
    return scores
