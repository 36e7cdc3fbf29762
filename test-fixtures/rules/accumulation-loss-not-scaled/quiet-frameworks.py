# The framework divides: Accelerate in backward, DeepSpeed in backward, Lightning around training_step.
import deepspeed
import lightning as L
import torch
from accelerate import Accelerator
from torch import nn


def with_accelerate(model, optimizer, loader):
    accelerator = Accelerator(gradient_accumulation_steps=8)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for x, y in loader:
        with accelerator.accumulate(model):
            accelerator.backward(nn.functional.mse_loss(model(x), y))
            optimizer.step()
            optimizer.zero_grad()


def with_accelerate_by_hand(model, optimizer, loader):
    accelerator = Accelerator(gradient_accumulation_steps=8)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for step, (x, y) in enumerate(loader):
        accelerator.backward(nn.functional.mse_loss(model(x), y))
        if (step + 1) % 8 == 0 or step + 1 == len(loader):
            optimizer.step()
            optimizer.zero_grad()


def with_deepspeed(net, loader, config):
    engine, _, _, _ = deepspeed.initialize(model=net, model_parameters=net.parameters(), config=config)
    for step, (x, y) in enumerate(loader):
        loss = nn.functional.mse_loss(engine(x), y)
        engine.backward(loss)
        engine.step()
        if (step + 1) % 8 == 0:
            print(step, loss.item())


class Lit(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        return nn.functional.mse_loss(self.net(x), y)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


if __name__ == "__main__":
    data = [(torch.randn(8, 4), torch.randn(8, 1)) for _ in range(32)]
    L.Trainer(accumulate_grad_batches=8).fit(Lit(), data)
