from dataclasses import dataclass

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


@dataclass
class Output:
    loss: torch.Tensor
    logits: torch.Tensor


class Tagger(nn.Module):
    def __init__(self, vocabulary=80, width=16, tags=5):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.hidden = nn.Linear(width, width)
        self.head = nn.Linear(width, tags)

    def forward(self, input_ids, labels=None):
        logits = self.head(torch.relu(self.hidden(self.embedding(input_ids))))
        loss = None
        if labels is not None:
            loss = nn.functional.cross_entropy(logits.view(-1, logits.size(-1)), labels.view(-1))
        return Output(loss=loss, logits=logits)


class Sentences(Dataset):
    def __len__(self):
        return 30

    def __getitem__(self, i):
        return {"input_ids": torch.randint(0, 80, (9,)), "labels": torch.randint(0, 5, (9,))}


class Trainer:
    def __init__(self, model, loader, optimizer_name="Adamax", lr=1e-3):
        self.model = model
        self.loader = loader
        self.optimizer = getattr(torch.optim, optimizer_name)(model.parameters(), lr=lr)
        self.history = []

    def training_step(self, batch):
        self.optimizer.zero_grad()
        outputs = self.model(input_ids=batch["input_ids"], labels=batch["labels"])
        outputs.loss.backward()
        self.optimizer.step()
        return outputs.loss.item()

    def fit(self, epochs):
        for epoch in range(epochs):
            for batch in self.loader:
                self.history.append(self.training_step(batch))


if __name__ == "__main__":
    trainer = Trainer(Tagger(), DataLoader(Sentences(), batch_size=5))
    trainer.fit(1)
