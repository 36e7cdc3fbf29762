"""Numbers; loggers that take the number at once; a Trainer that logs in its own way."""
import lightning as L
import torch
import wandb
from torch import nn
from torch.utils.tensorboard import SummaryWriter
from transformers import Trainer

writer = SummaryWriter()
model = nn.Linear(10, 10)


class Numbers(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        outputs = model(**inputs)
        loss = outputs.loss
        self.log({"loss": loss.item(), "detached": loss.detach().cpu().numpy().item()})
        return (loss, outputs) if return_outputs else loss


class OwnLog(Trainer):
    def log(self, logs, start_time=None):
        super().log({name: float(value) for name, value in logs.items()}, start_time)

    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        loss = model(**inputs).loss
        self.log({"loss": loss})
        return loss


class Lit(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(10, 10)

    def training_step(self, batch, batch_idx):
        loss = self.layer(batch).mean()
        self.log("loss", loss)
        return loss


def train(loader, optimizer):
    for step, x in enumerate(loader):
        loss = model(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        writer.add_scalar("loss", loss, step)
        wandb.log({"loss": loss})
        print(f"loss {loss}")
