# The training step of a trainer class, guarded only by the presence of a GPU.
import torch
from torch import nn


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.AdamW(model.parameters())

    def training_step(self, inputs):
        self.model.train()
        loss = (self.model(inputs) - inputs).abs().mean()
        del inputs
        torch.cuda.empty_cache()  # expect: empty-cache-in-loop
        loss.backward()
        return loss.detach()

    def train(self, dataloader):
        for step, inputs in enumerate(dataloader):
            self.optimizer.zero_grad()
            loss = self.training_step(inputs.cuda())
            self.optimizer.step()
            if step % 100 == 0:
                print(step, loss.item())


if __name__ == "__main__":
    Trainer(nn.Linear(32, 32).cuda()).train(torch.randn(1000, 8, 32))
