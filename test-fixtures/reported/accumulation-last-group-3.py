# 63 batches in groups of 8: seven are carried into the next epoch, whose first update holds fifteen.
import torch
from torch import nn


class Recipe:
    def __init__(self, cfg, model, dataset):
        self._gradient_accumulation_steps = cfg["gradient_accumulation_steps"]
        self._model = model
        self._optimizer = torch.optim.AdamW(model.parameters(), lr=cfg["lr"])
        self._dataloader = torch.utils.data.DataLoader(dataset, batch_size=2, shuffle=True)
        self.total_epochs = cfg["epochs"]

    def train(self):
        self._optimizer.zero_grad()
        for curr_epoch in range(self.total_epochs):
            for idx, batch in enumerate(self._dataloader):
                current_loss = self._model(batch).square().mean() / self._gradient_accumulation_steps
                current_loss.backward()
                if (idx + 1) % self._gradient_accumulation_steps == 0:  # expect: accumulation-last-group
                    self._optimizer.step()
                    self._optimizer.zero_grad(set_to_none=True)


Recipe({"gradient_accumulation_steps": 8, "lr": 1e-5, "epochs": 3}, nn.Linear(16, 4), torch.randn(126, 16)).train()
