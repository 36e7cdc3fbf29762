import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_


class Trainer:
    def __init__(self, model, loader, device="cuda"):
        self.model = model.to(device)
        self.loader = loader
        self.device = device
        self.loss_fn = nn.BCEWithLogitsLoss()
        self.optim = torch.optim.Adam(self.model.parameters())
        self.history = {"loss": [], "lr": []}
        self.epoch_loss = 0

    def step(self, batch):
        x, y = (t.to(self.device) for t in batch)
        self.optim.zero_grad(set_to_none=True)
        loss = self.loss_fn(self.model(x), y)
        loss.backward()
        clip_grad_norm_(self.model.parameters(), 1.0)
        self.optim.step()
        return loss

    def run(self, epochs=10):
        for epoch in range(epochs):
            self.epoch_loss = 0
            for batch in self.loader:
                loss = self.step(batch)
                self.epoch_loss += loss  # expect: graph-retained-after-backward
                self.history["loss"].append(loss)  # expect: graph-retained-after-backward
                self.history["lr"].append(self.optim.param_groups[0]["lr"])
            print("epoch", epoch, self.epoch_loss / len(self.loader))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(30, 1)

    def forward(self, x):
        return self.fc(x)


if __name__ == "__main__":
    batches = [(torch.randn(16, 30), torch.rand(16, 1).round()) for _ in range(64)]
    Trainer(Net(), batches).run()
