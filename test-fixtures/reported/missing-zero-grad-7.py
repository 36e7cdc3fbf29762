# "In Trainer class training for LoRA we forgot to do zero_grad after each optimizer step": steps in methods.
# https://github.com/tenstorrent/tt-blacksmith/pull/711
import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM


class TextTrainer:
    def __init__(self, config, train_dataloader):
        self.config = config
        self.train_dataloader = train_dataloader
        model = AutoModelForCausalLM.from_pretrained(config.model_name)
        self.model = get_peft_model(model, LoraConfig(r=8, lora_alpha=16)).to("cuda")
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=config.learning_rate)

    def training_step(self, batch):
        output = self.model(input_ids=batch["input_ids"].cuda(), labels=batch["labels"].cuda())
        loss = output.loss
        loss.backward()
        return loss.item()

    def optimizer_step(self):
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()  # expect: missing-zero-grad

    def train(self):
        for epoch in range(self.config.num_epochs):
            for batch in self.train_dataloader:
                self.training_step(batch)
                self.optimizer_step()
