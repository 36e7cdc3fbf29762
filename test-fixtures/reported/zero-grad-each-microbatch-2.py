# Accelerate, with the order of an ordinary PyTorch loop: zero, forward, backward, step.
import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader


def main():
    accelerator = Accelerator(gradient_accumulation_steps=2)
    model = nn.Linear(10, 2)
    optimizer = torch.optim.Adam(model.parameters())
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10)
    training_dataloader = DataLoader([(torch.randn(10), i % 2) for i in range(100)], batch_size=4)
    loss_function = nn.CrossEntropyLoss()
    model, optimizer, training_dataloader, scheduler = accelerator.prepare(
        model, optimizer, training_dataloader, scheduler
    )
    for batch in training_dataloader:
        with accelerator.accumulate(model):
            optimizer.zero_grad()  # expect: zero-grad-each-microbatch
            inputs, targets = batch
            outputs = model(inputs)
            loss = loss_function(outputs, targets)
            accelerator.backward(loss)
            optimizer.step()
            scheduler.step()


if __name__ == "__main__":
    main()
