# An epoch boundary inside a group: the first update of the second epoch holds more than k micro-batches.
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader
from transformers import AutoModelForSequenceClassification, get_linear_schedule_with_warmup


def training_function(config, dataset, gradient_accumulation_steps=1):
    accelerator = Accelerator()
    model = AutoModelForSequenceClassification.from_pretrained("bert-base-cased")
    train_dataloader = DataLoader(dataset, shuffle=True, batch_size=16)
    eval_dataloader = DataLoader(dataset, batch_size=32)
    optimizer = torch.optim.AdamW(params=model.parameters(), lr=config["lr"])
    lr_scheduler = get_linear_schedule_with_warmup(
        optimizer, 100, (len(train_dataloader) * 3) // gradient_accumulation_steps
    )
    model, optimizer, train_dataloader, eval_dataloader, lr_scheduler = accelerator.prepare(
        model, optimizer, train_dataloader, eval_dataloader, lr_scheduler
    )
    for epoch in range(3):
        model.train()
        for step, batch in enumerate(train_dataloader):
            loss = model(**batch).loss / gradient_accumulation_steps
            accelerator.backward(loss)
            if step % gradient_accumulation_steps == 0:  # expect: accumulation-last-group
                optimizer.step()
                lr_scheduler.step()
                optimizer.zero_grad()
        model.eval()
        for step, batch in enumerate(eval_dataloader):
            with torch.no_grad():
                model(**batch)
