# A dataset, a lambda for map, the older name of the argument, a list comprehension, a step that tokenizes its batch.
import torch
from datasets import load_dataset
from torch.utils.data import DataLoader, Dataset
from transformers import BertForSequenceClassification, BertTokenizerFast

tokenizer = BertTokenizerFast.from_pretrained("bert-base-uncased")
MAX_LENGTH = 256


class Reviews(Dataset):
    def __init__(self, texts, labels, tokenizer, length):
        self.texts = texts
        self.labels = labels
        self.tokenizer = tokenizer
        self.length = length

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, index):
        encoded = self.tokenizer(
            self.texts[index],
            padding="max_length",  # expect: pad-to-max-length
            truncation=True,
            max_length=self.length,
            return_tensors="pt",
        )
        return encoded["input_ids"][0], self.labels[index]


mapped = load_dataset("imdb")["train"].map(
    lambda samples: tokenizer(samples["text"], padding="max_length", truncation=True),  # expect: pad-to-max-length
    batched=True,
)
ids = [
    tokenizer.encode(text, max_length=MAX_LENGTH, pad_to_max_length=True)  # expect: pad-to-max-length
    for text in mapped["text"]
]
model = BertForSequenceClassification.from_pretrained("bert-base-uncased").cuda()
optimizer = torch.optim.AdamW(model.parameters())
for texts, labels in DataLoader(list(zip(mapped["text"], mapped["label"])), batch_size=16):
    batch = tokenizer(texts, padding="max_length", max_length=MAX_LENGTH, truncation=True, return_tensors="pt")  # expect: pad-to-max-length
    optimizer.zero_grad()
    model(**batch.to("cuda"), labels=labels.cuda()).loss.backward()
    optimizer.step()
