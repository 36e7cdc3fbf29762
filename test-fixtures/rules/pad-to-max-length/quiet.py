# Short texts, padding by batch, an argument that decides, a tokenizer of something else, and texts that are not trained on.
import argparse

from datasets import load_dataset
from transformers import AutoModelForSequenceClassification, AutoTokenizer, CLIPTokenizer, DataCollatorWithPadding
from transformers import Trainer, TrainingArguments
from words import Words

parser = argparse.ArgumentParser()
parser.add_argument("--pad_to_max_length", action="store_true")
args = parser.parse_args()

tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
clip = CLIPTokenizer.from_pretrained("openai/clip-vit-base-patch32")
words_tokenizer = Words("words.txt")
model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased")


def tokenize_tweets(samples):
    return tokenizer(samples["text"], padding="max_length", truncation=True, max_length=64)


def tokenize(samples):
    return tokenizer(samples["text"], truncation=True)


def tokenize_as_asked(samples):
    padding = "max_length" if args.pad_to_max_length else False
    return tokenizer(samples["text"], padding=padding, truncation=True)


def encode_captions(samples):
    return clip(samples["caption"], padding="max_length", max_length=clip.model_max_length, truncation=True)


def predict(text):
    return model(**tokenizer(text, padding="max_length", truncation=True, return_tensors="pt")).logits


print(tokenizer("How long is this?", padding="max_length", return_tensors="pt"))
train = load_dataset("imdb")["train"].map(tokenize, batched=True)
collator = DataCollatorWithPadding(tokenizer)
Trainer(model=model, args=TrainingArguments("out"), train_dataset=train, data_collator=collator).train()
