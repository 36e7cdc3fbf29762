import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
model = nn.Linear(128, 10)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
model.load_state_dict(torch.load("last.pt"))
if parser.parse_args().device == "cuda":
    print("not here")
for _ in range(10):
    optimizer.zero_grad()
    model(torch.randn(4, 128)).sum().backward()
    optimizer.step()


def fit(lightning_model, path):
    from lightning.pytorch import Trainer

    trainer = Trainer(max_epochs=1)
    trainer.fit(lightning_model)
    lightning_model.load_state_dict(torch.load(path))
    trainer.fit_loop.load_state_dict(torch.load(path)["loops"]["fit_loop"])
