# Sentence embeddings: "wouldn't calling zero_grad() in each iteration clear the previous gradients?"
# https://github.com/bhuvanakundumani/SimCSE_unsupervised/issues/1
import argparse

import torch
from torch.utils.data import DataLoader
from tqdm import tqdm
from transformers import AutoConfig, AutoModel, get_linear_schedule_with_warmup

parser = argparse.ArgumentParser()
parser.add_argument("--gradient_accumulation_steps", type=int, default=4)
parser.add_argument("--num_train_epochs", type=int, default=1)
args = parser.parse_args()
device = torch.device("cuda")


class BertForCL(torch.nn.Module):
    def __init__(self, name):
        super().__init__()
        self.bert = AutoModel.from_pretrained(name, config=AutoConfig.from_pretrained(name))

    def forward(self, input_ids, attention_mask):
        cls = self.bert(input_ids, attention_mask).last_hidden_state[:, 0]
        scores = torch.nn.functional.cosine_similarity(cls.unsqueeze(1), cls.unsqueeze(0), dim=-1) / 0.05
        return {"loss": torch.nn.functional.cross_entropy(scores, torch.arange(len(cls), device=cls.device))}


def main(train_data):
    train_dataloader = DataLoader(train_data, batch_size=64)
    model = BertForCL("bert-base-uncased")
    model.to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-5)
    scheduler = get_linear_schedule_with_warmup(optimizer, 100, len(train_dataloader) // args.gradient_accumulation_steps)
    for epoch in range(args.num_train_epochs):
        model.train()
        running_loss = 0.0
        for step, batch in enumerate(tqdm(train_dataloader, desc="Iteration")):
            input_ids, attention_mask = tuple(t.to(device) for t in batch)
            optimizer.zero_grad()  # expect: zero-grad-each-microbatch
            outputs = model(input_ids, attention_mask)
            loss = outputs["loss"]
            if args.gradient_accumulation_steps > 1:
                loss = loss / args.gradient_accumulation_steps
            loss.backward()
            running_loss += loss.item()
            if (step + 1) % args.gradient_accumulation_steps == 0:  # expect: accumulation-last-group
                optimizer.step()
                scheduler.step()
                model.zero_grad()
