# A compiled model would be compiled anew for each length.
import torch
from torch.utils.data import DataLoader
from transformers import AutoModelForSequenceClassification, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("roberta-base")


def collate(samples):
    return tokenizer(samples, padding="max_length", truncation=True, max_length=512, return_tensors="pt")


def train(samples):
    model = torch.compile(AutoModelForSequenceClassification.from_pretrained("roberta-base").cuda())
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)
    for batch in DataLoader(samples, batch_size=16, collate_fn=collate):
        optimizer.zero_grad()
        model(**batch.to("cuda")).logits.mean().backward()
        optimizer.step()
