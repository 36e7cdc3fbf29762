# Texts become a batch here: the longest of them is known.
import torch
from torch.utils.data import DataLoader
from transformers import AutoModelForSequenceClassification, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("roberta-base")


def collate(samples):
    texts, labels = zip(*samples)
    batch = tokenizer(list(texts), padding=True, truncation=True, max_length=512, return_tensors="pt")  # expect: pad-to-max-length
    batch["labels"] = torch.tensor(labels)
    return batch


def train(samples):
    model = AutoModelForSequenceClassification.from_pretrained("roberta-base").cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)
    for batch in DataLoader(samples, batch_size=16, shuffle=True, collate_fn=collate):
        optimizer.zero_grad()
        model(**batch.to("cuda")).loss.backward()
        optimizer.step()
