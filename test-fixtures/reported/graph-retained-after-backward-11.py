# Fine-tuning under a launcher: after the first epoch the sum of the losses is logged, and memory has run out before.
# https://github.com/ray-project/ray/pull/40940
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM, get_linear_schedule_with_warmup


def training_function(kwargs: dict):
    config = kwargs["config"]
    accelerator = Accelerator(gradient_accumulation_steps=config["gradient_accumulation_steps"])
    model = AutoModelForCausalLM.from_pretrained(config["model"], use_cache=False)
    optimizer = torch.optim.AdamW(model.parameters(), lr=config["lr"])
    train_dataloader = DataLoader(kwargs["train_ds"], batch_size=config["batch_size"])
    lr_scheduler = get_linear_schedule_with_warmup(optimizer, 100, 10000)
    model, optimizer, train_dataloader, lr_scheduler = accelerator.prepare(
        model, optimizer, train_dataloader, lr_scheduler
    )
    for epoch in range(config["num_epochs"]):
        model.train()
        loss_sum = torch.tensor(0.0).to(accelerator.device)
        num_steps = 0
        for step, batch in enumerate(train_dataloader):
            with accelerator.accumulate(model):
                outputs = model(**batch)
                loss = outputs.loss
                loss_sum += loss  # expect: graph-retained-after-backward
                accelerator.backward(loss)
                optimizer.step()
                lr_scheduler.step()
                optimizer.zero_grad()
            num_steps += 1
        aggregated_loss = torch.mean(accelerator.gather(loss_sum[None])).item()
        accelerator.print({"epoch": epoch, "avg_train_loss": aggregated_loss / num_steps})
