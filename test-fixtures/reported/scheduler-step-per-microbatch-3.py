# The length is the number of updates, the scheduler stands behind the backward.
import math

import torch
from torch import nn
from transformers import get_cosine_schedule_with_warmup


def train(model, train_dataloader, args):
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.learning_rate)
    num_update_steps_per_epoch = math.ceil(len(train_dataloader) / args.gradient_accumulation_steps)
    max_train_steps = args.num_train_epochs * num_update_steps_per_epoch
    lr_scheduler = get_cosine_schedule_with_warmup(optimizer, args.lr_warmup_steps, max_train_steps)
    for epoch in range(args.num_train_epochs):
        for step, batch in enumerate(train_dataloader):
            loss = nn.functional.mse_loss(model(batch["noisy"]), batch["noise"])
            loss = loss / args.gradient_accumulation_steps
            loss.backward()
            lr_scheduler.step()  # expect: scheduler-step-per-microbatch
            if (step + 1) % args.gradient_accumulation_steps == 0 or step == len(train_dataloader) - 1:
                optimizer.step()
                optimizer.zero_grad()
