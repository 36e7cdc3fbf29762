import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Reviews(Dataset):
    def __len__(self):
        return 32

    def __getitem__(self, i):
        return {"input_ids": torch.randint(0, 100, (12,)), "labels": i % 2}


class Classifier(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.embedding = nn.Embedding(100, width)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, 2)
        self.criterion = nn.CrossEntropyLoss()

    def forward(self, input_ids, labels=None):
        hidden = self.norm(self.embedding(input_ids)).mean(dim=1)
        logits = self.head(hidden)
        return {"loss": self.criterion(logits, labels), "logits": logits}


def build_optimizer(model, args):
    no_decay = ["bias", "norm.weight"]
    groups = [
        {
            "params": [p for n, p in model.named_parameters() if not any(nd in n for nd in no_decay)],
            "weight_decay": args.weight_decay,
        },
        {"params": [p for n, p in model.named_parameters() if any(nd in n for nd in no_decay)], "weight_decay": 0.0},
    ]
    if args.optimizer == "adamw":
        return torch.optim.AdamW(groups, lr=args.lr)
    elif args.optimizer == "sgd":
        return torch.optim.SGD(groups, lr=args.lr, momentum=0.9)
    raise ValueError(args.optimizer)


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--optimizer", default="sgd", choices=["adamw", "sgd"])
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--weight_decay", type=float, default=0.01)
    parser.add_argument("--batch_size", type=int, default=8)
    return parser.parse_args([])


def main():
    args = parse_args()
    model = Classifier()
    optimizer = build_optimizer(model, args)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1.0 / (step + 1))
    loader = DataLoader(Reviews(), batch_size=args.batch_size)
    for epoch in range(1):
        model.train()
        for step, batch in enumerate(loader):
            outputs = model(**batch)
            loss = outputs["loss"]
            loss.backward()
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()


if __name__ == "__main__":
    main()
