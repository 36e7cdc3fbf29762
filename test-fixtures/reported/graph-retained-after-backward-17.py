# tr_loss of a trainer whose step returns the loss: host memory grows for 20,000 steps.
# https://github.com/huggingface/transformers/pull/6999
import torch
import torch.nn as nn


class Trainer:
    def __init__(self, model: nn.Module, train_dataloader, args):
        self.model = model.to("cuda")
        self.args = args
        self.train_dataloader = train_dataloader
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=args.learning_rate)

    def training_step(self, model, inputs):
        model.train()
        inputs = {k: v.to("cuda") for k, v in inputs.items()}
        outputs = model(**inputs)
        loss = outputs[0]
        if self.args.gradient_accumulation_steps > 1:
            loss = loss / self.args.gradient_accumulation_steps
        loss.backward()
        return loss

    def train(self):
        tr_loss = torch.tensor(0.0).to("cuda")
        logging_loss_scalar = 0.0
        self.model.zero_grad()
        for epoch in range(self.args.num_train_epochs):
            for step, inputs in enumerate(self.train_dataloader):
                tr_loss += self.training_step(self.model, inputs)  # expect: graph-retained-after-backward
                last = step + 1 == len(self.train_dataloader)
                if (step + 1) % self.args.gradient_accumulation_steps == 0 or last:
                    torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                    self.optimizer.step()
                    self.model.zero_grad()
                if step % self.args.logging_steps == 0:
                    print((tr_loss.item() - logging_loss_scalar) / self.args.logging_steps)
                    logging_loss_scalar = tr_loss.item()
        return tr_loss / step
