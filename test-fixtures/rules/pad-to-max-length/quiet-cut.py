# The padding is cut off again where batches are made.
import torch
from torch.utils.data import DataLoader, Dataset
from transformers import AutoModelForSequenceClassification, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("microsoft/deberta-v3-base")


class Essays(Dataset):
    def __init__(self, texts):
        self.texts = texts

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, index):
        return tokenizer(self.texts[index], padding="max_length", truncation=True, max_length=1024, return_tensors="pt")


def cut(batch):
    longest = int(batch["attention_mask"].sum(dim=1).max())
    return {key: value[:, :longest] for key, value in batch.items()}


def train(texts):
    model = AutoModelForSequenceClassification.from_pretrained("microsoft/deberta-v3-base").cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)
    for batch in DataLoader(Essays(texts), batch_size=8):
        optimizer.zero_grad()
        model(**cut(batch)).logits.mean().backward()
        optimizer.step()
