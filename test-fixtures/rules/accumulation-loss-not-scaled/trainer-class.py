import argparse

import torch
from torch import nn
from torch.amp import GradScaler, autocast
from transformers import AutoModelForCausalLM


class Finetuner:
    def __init__(self, args):
        self.args = args
        self.model = AutoModelForCausalLM.from_pretrained(args.model).cuda()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=args.lr)
        self.scaler = GradScaler("cuda")
        self.global_step = 0

    def train(self, loader):
        self.model.train()
        for step, batch in enumerate(loader):
            with autocast("cuda"):
                outputs = self.model(input_ids=batch.cuda(), labels=batch.cuda())
                loss = outputs.loss
            self.scaler.scale(loss).backward()  # expect: accumulation-loss-not-scaled
            if (step + 1) % self.args.gradient_accumulation_steps == 0:  # expect: accumulation-last-group
                self.scaler.unscale_(self.optimizer)
                nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                self.scaler.step(self.optimizer)
                self.scaler.update()
                self.optimizer.zero_grad()
                self.global_step += 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="gpt2")
    parser.add_argument("--lr", type=float, default=5e-5)
    parser.add_argument("--gradient_accumulation_steps", type=int, default=8)
    Finetuner(parser.parse_args()).train(torch.randint(50257, (256, 2, 128)))
