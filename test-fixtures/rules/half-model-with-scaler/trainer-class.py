import torch
from torch import nn
from torch.amp import GradScaler
from transformers import AutoModelForCausalLM


class Trainer:
    def __init__(self, name):
        # expect-next: half-model-with-scaler
        self.model = AutoModelForCausalLM.from_pretrained(name, torch_dtype=torch.float16).cuda()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-5)
        self.scaler = GradScaler("cuda")

    def update(self, loss):
        self.scaler.scale(loss).backward()
        self.scaler.unscale_(self.optimizer)
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad()

    def train(self, loader):
        for batch in loader:
            with torch.autocast("cuda"):
                loss = self.model(**batch).loss
            self.update(loss)
