import torch
from transformers import AutoModelForSequenceClassification


def step(model, optimizer, batch):
    optimizer.zero_grad()
    loss = model(**batch).loss
    loss.backward()
    optimizer.step()


def main(loader):
    model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased", num_labels=2)
    optimizer = torch.optim.AdamW([{"params": model.classifier.parameters(), "lr": 1e-3}])  # expect: backbone-not-frozen
    for batch in loader:
        step(model, optimizer, batch)
