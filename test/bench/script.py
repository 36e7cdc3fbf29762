"""Trains a small transformer that classifies texts: what a script of its length usually holds besides its loop."""

import argparse
import json
import logging
import math
import os
import random
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

logger = logging.getLogger(__name__)


@dataclass
class Settings:
    data: Path = Path("data/reviews")
    output: Path = Path("runs/first")
    vocabulary_size: int = 30_000
    width: int = 384
    heads: int = 6
    layers: int = 6
    dropout: float = 0.1
    longest: int = 256
    batch_size: int = 64
    epochs: int = 5
    learning_rate: float = 3e-4
    warmup: int = 500
    seed: int = 1234
    labels: list[str] = field(default_factory=lambda: ["negative", "neutral", "positive"])


def parse_arguments() -> Settings:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Settings.data)
    parser.add_argument("--output", type=Path, default=Settings.output)
    parser.add_argument("--batch-size", type=int, default=Settings.batch_size, help="samples a step")
    parser.add_argument("--epochs", type=int, default=Settings.epochs)
    parser.add_argument("--learning-rate", type=float, default=Settings.learning_rate)
    parser.add_argument("--seed", type=int, default=Settings.seed)
    given = parser.parse_args()
    return Settings(**{name: value for name, value in vars(given).items() if value is not None})


def set_seed(seed: int) -> None:
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


class Vocabulary:
    """Words by how often they occur; the rest share one entry."""

    def __init__(self, words, size):
        counts = {}
        for word in words:
            counts[word] = counts.get(word, 0) + 1
        kept = sorted(counts, key=lambda word: (-counts[word], word))[: size - 2]
        self.entries = {word: index + 2 for index, word in enumerate(kept)}

    def encode(self, text, longest):
        ids = [self.entries.get(word, 1) for word in text.lower().split()[:longest]]
        return ids + [0] * (longest - len(ids))

    def save(self, path):
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self.entries, file, ensure_ascii=False, indent=2)


class Reviews(Dataset):
    def __init__(self, folder, split, vocabulary, settings):
        self.samples = []
        self.vocabulary = vocabulary
        self.longest = settings.longest
        for line in (folder / f"{split}.jsonl").read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            if not record.get("text"):
                logger.warning("an empty text in %s: %s", split, record.get("id", "?"))
                continue
            self.samples.append((record["text"], settings.labels.index(record["label"])))

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        text, label = self.samples[index]
        ids = torch.tensor(self.vocabulary.encode(text, self.longest), dtype=torch.long)
        return {"ids": ids, "mask": ids != 0, "label": torch.tensor(label)}


class Attention(nn.Module):
    def __init__(self, width, heads, dropout):
        super().__init__()
        if width % heads != 0:
            raise ValueError(f"a width of {width} cannot be shared by {heads} heads")
        self.heads = heads
        self.projection = nn.Linear(width, 3 * width)
        self.output = nn.Linear(width, width)
        self.dropout = dropout

    def forward(self, x, mask):
        batch, length, width = x.shape
        query, key, value = self.projection(x).chunk(3, dim=-1)
        shape = (batch, length, self.heads, width // self.heads)
        query, key, value = (part.view(shape).transpose(1, 2) for part in (query, key, value))
        rate = self.dropout if self.training else 0.0
        mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=mask[:, None, None, :], dropout_p=rate)
        return self.output(mixed.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, width, heads, dropout):
        super().__init__()
        self.first_norm = nn.LayerNorm(width)
        self.attention = Attention(width, heads, dropout)
        self.second_norm = nn.LayerNorm(width)
        self.feed_forward = nn.Sequential(
            nn.Linear(width, 4 * width),
            nn.GELU(),
            nn.Linear(4 * width, width),
            nn.Dropout(dropout),
        )

    def forward(self, x, mask):
        x = x + self.attention(self.first_norm(x), mask)
        return x + self.feed_forward(self.second_norm(x))


class Classifier(nn.Module):
    def __init__(self, settings):
        super().__init__()
        self.embedding = nn.Embedding(settings.vocabulary_size, settings.width, padding_idx=0)
        self.register_buffer("positions", self.make_positions(settings.longest, settings.width))
        blocks = [Block(settings.width, settings.heads, settings.dropout) for _ in range(settings.layers)]
        self.blocks = nn.ModuleList(blocks)
        self.norm = nn.LayerNorm(settings.width)
        self.head = nn.Linear(settings.width, len(settings.labels))
        self.apply(self.initialise)

    @staticmethod
    def make_positions(length, width):
        position = torch.arange(length).unsqueeze(1)
        scale = torch.exp(torch.arange(0, width, 2) * (-math.log(10_000.0) / width))
        table = torch.zeros(length, width)
        table[:, 0::2] = torch.sin(position * scale)
        table[:, 1::2] = torch.cos(position * scale)
        return table

    def initialise(self, module):
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=0.02)
            if module.bias is not None:
                nn.init.zeros_(module.bias)

    def forward(self, ids, mask):
        x = self.embedding(ids) + self.positions[: ids.shape[1]]
        for block in self.blocks:
            x = block(x, mask)
        weights = mask.unsqueeze(-1).to(x.dtype)
        pooled = (self.norm(x) * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1.0)
        return self.head(pooled)


def parameter_groups(model, decay):
    plain, decayed = [], []
    for name, parameter in model.named_parameters():
        if not parameter.requires_grad:
            continue
        target = plain if parameter.ndim < 2 or name.endswith("bias") else decayed
        target.append(parameter)
    return [{"params": decayed, "weight_decay": decay}, {"params": plain, "weight_decay": 0.0}]


def learning_rate_at(step, settings, total):
    if step < settings.warmup:
        return step / max(1, settings.warmup)
    progress = (step - settings.warmup) / max(1, total - settings.warmup)
    return 0.5 * (1.0 + math.cos(math.pi * min(1.0, progress)))


def load_data(settings):
    texts = (settings.data / "train.jsonl").read_text(encoding="utf-8").splitlines()
    words = (word for line in texts for word in json.loads(line)["text"].lower().split())
    vocabulary = Vocabulary(words, settings.vocabulary_size)
    loaders = {}
    for split in ("train", "valid"):
        dataset = Reviews(settings.data, split, vocabulary, settings)
        loaders[split] = DataLoader(
            dataset, batch_size=settings.batch_size, shuffle=split == "train", num_workers=4, pin_memory=True
        )
    return vocabulary, loaders


@torch.no_grad()
def evaluate(model, loader, device):
    model.eval()
    correct, total, summed = 0, 0, 0.0
    for batch in loader:
        ids, mask, label = (batch[name].to(device) for name in ("ids", "mask", "label"))
        logits = model(ids, mask)
        summed += F.cross_entropy(logits, label, reduction="sum").item()
        correct += (logits.argmax(dim=-1) == label).sum().item()
        total += label.numel()
    return {"loss": summed / max(1, total), "accuracy": correct / max(1, total)}


def save_checkpoint(path, model, optimizer, scheduler, epoch, metrics):
    path.parent.mkdir(parents=True, exist_ok=True)
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict()}
    temporary = path.with_suffix(".part")
    torch.save({**state, "epoch": epoch, "metrics": metrics}, temporary)
    os.replace(temporary, path)


def train(settings):
    set_seed(settings.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    vocabulary, loaders = load_data(settings)
    model = Classifier(settings).to(device)
    optimizer = torch.optim.AdamW(parameter_groups(model, 0.01), lr=settings.learning_rate)
    total = settings.epochs * len(loaders["train"])
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: learning_rate_at(step, settings, total))
    best = 0.0
    history = []
    for epoch in range(settings.epochs):
        model.train()
        running = 0.0
        for step, batch in enumerate(loaders["train"]):
            ids, mask, label = (batch[name].to(device, non_blocking=True) for name in ("ids", "mask", "label"))
            loss = F.cross_entropy(model(ids, mask), label)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            if step % 50 == 0:
                running = loss.item()
                logger.info("epoch %d step %d loss %.4f rate %.2e", epoch, step, running, scheduler.get_last_lr()[0])
        metrics = evaluate(model, loaders["valid"], device)
        history.append({"epoch": epoch, **metrics})
        logger.info("epoch %d: %s", epoch, ", ".join(f"{name} {value:.4f}" for name, value in metrics.items()))
        if metrics["accuracy"] > best:
            best = metrics["accuracy"]
            save_checkpoint(settings.output / "best.pt", model, optimizer, scheduler, epoch, metrics)
    (settings.output / "history.json").write_text(json.dumps(history, indent=2))
    vocabulary.save(settings.output / "vocabulary.json")
    return best


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    print(f"best accuracy: {train(parse_arguments()):.4f}")
