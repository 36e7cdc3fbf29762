import torch
from torch import nn
from tqdm import tqdm


class Trainer:
    def __init__(self, model, loader, lr):
        self.model = model
        self.loader = loader
        self.criterion = nn.BCEWithLogitsLoss()
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
        self.scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, T_max=10)

    def train(self, epochs):
        for epoch in range(epochs):
            total = 0.0
            for features, label in tqdm(self.loader, desc=f"epoch {epoch}"):
                total += self.train_step(features, label)
            self.scheduler.step()
            print(total / len(self.loader))

    def train_step(self, features, label):
        loss = self.criterion(self.model(features).squeeze(1), label)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()  # expect: missing-zero-grad
        return loss.item()


if __name__ == "__main__":
    loader = [(torch.randn(64, 12), torch.rand(64).round()) for _ in range(30)]
    Trainer(nn.Linear(12, 1), loader, lr=1e-3).train(10)
