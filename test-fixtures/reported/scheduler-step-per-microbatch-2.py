# Under accumulate(), the scheduler beside the prepared objects but not among them.
import torch
from accelerate import Accelerator
from torch import nn
from transformers import get_scheduler

accelerator = Accelerator(gradient_accumulation_steps=2)


class Trainer:
    def __init__(self, model, loader, optimizer):
        self.model, self.optimizer, self.loader = accelerator.prepare(model, optimizer, loader)
        self.lr_scheduler = get_scheduler(
            "cosine", optimizer=optimizer, num_warmup_steps=500, num_training_steps=20000
        )
        self.completed_steps = 0

    def train_step(self, batch):
        with accelerator.accumulate(self.model):
            self.optimizer.zero_grad()  # expect: zero-grad-each-microbatch
            loss = self.model(batch).mean()
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            self.lr_scheduler.step()  # expect: scheduler-step-per-microbatch
        return loss.detach()

    def train(self):
        for batch in self.loader:
            self.train_step(batch)
            if accelerator.sync_gradients:
                self.completed_steps += 1


data = torch.utils.data.DataLoader(torch.randn(512, 8), batch_size=4)
net = nn.Linear(8, 1)
Trainer(net, data, torch.optim.AdamW(net.parameters())).train()
