# Question answering with the model's own loss: 64 GB of host memory are full, `output.loss.detach()` solves it.
# https://github.com/pai4451/ML2021/issues/2
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader
from transformers import BertForQuestionAnswering


def main(train_set, num_epoch=1, logging_step=100):
    accelerator = Accelerator(mixed_precision="fp16")
    model = BertForQuestionAnswering.from_pretrained("bert-base-chinese").to("cuda")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    train_loader = DataLoader(train_set, batch_size=16, shuffle=True)
    model, optimizer, train_loader = accelerator.prepare(model, optimizer, train_loader)
    model.train()
    for epoch in range(num_epoch):
        step = 1
        train_loss = train_acc = 0
        for data in train_loader:
            data = [i.to("cuda") for i in data]
            output = model(
                input_ids=data[0], token_type_ids=data[1], attention_mask=data[2], start_positions=data[3], end_positions=data[4]
            )
            start_index = torch.argmax(output.start_logits, dim=1)
            end_index = torch.argmax(output.end_logits, dim=1)
            train_acc += ((start_index == data[3]) & (end_index == data[4])).float().mean()
            train_loss += output.loss  # expect: graph-retained-after-backward
            accelerator.backward(output.loss)
            optimizer.step()
            optimizer.zero_grad()
            step += 1
        print(f"Epoch {epoch + 1} | loss = {train_loss.item() / step:.3f}, acc = {train_acc / step:.3f}")
