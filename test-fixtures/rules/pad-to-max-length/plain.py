# Texts of a dataset padded to 512 tokens before a Trainer sees them.
from datasets import load_dataset
from transformers import AutoModelForSequenceClassification, AutoTokenizer, Trainer, TrainingArguments

tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased")
dataset = load_dataset("imdb")


def tokenize(samples):
    return tokenizer(samples["text"], padding="max_length", truncation=True, max_length=512)  # expect: pad-to-max-length


train = dataset["train"].map(tokenize, batched=True)
trainer = Trainer(model=model, args=TrainingArguments("out"), train_dataset=train)
trainer.train()
