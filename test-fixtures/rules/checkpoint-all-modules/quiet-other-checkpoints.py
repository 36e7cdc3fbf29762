# Saved files, the switch of a library, and loops over modules that wrap nothing.
import torch
from torch import nn
from transformers import AutoModelForCausalLM


def save_checkpoint(model, optimizer, epoch):
    checkpoint = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}
    torch.save(checkpoint, f"checkpoint{epoch}.pt")


def initialise(model):
    for name, m in model.named_modules():
        if isinstance(m, nn.Linear):
            nn.init.xavier_uniform_(m.weight)
            nn.init.zeros_(m.bias)


def checkpoint(module, path):
    torch.save(module.state_dict(), path)


def save_parts(model):
    for name, m in model.named_children():
        checkpoint(m, f"{name}.pt")


def main():
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    model.gradient_checkpointing_enable()
    model.config.use_cache = False
    optimizer = torch.optim.AdamW(model.parameters())
    for epoch in range(2):
        for batch in torch.randint(50257, (10, 2, 64)):
            optimizer.zero_grad()
            model(input_ids=batch, labels=batch).loss.backward()
            optimizer.step()
        save_checkpoint(model, optimizer, epoch)
    save_parts(model)


if __name__ == "__main__":
    main()
