import torch
from accelerate import Accelerator
from torch import nn


def training_function(config, loader):
    accelerator = Accelerator(gradient_accumulation_steps=config["accumulate"])
    net = nn.LSTM(32, 64, batch_first=True)
    head = nn.Linear(64, 2)
    model = nn.ModuleDict({"net": net, "head": head})
    optimizer = torch.optim.Adam(model.parameters(), lr=config["lr"])
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for step, (x, y) in enumerate(loader):
        with accelerator.accumulate(model):
            output, _ = model["net"](x)
            loss = nn.functional.cross_entropy(model["head"](output[:, -1]), y)
            accelerator.backward(loss)
            optimizer.step()
            model.zero_grad()  # expect: zero-grad-each-microbatch


if __name__ == "__main__":
    dataset = [(torch.randn(20, 32), i % 2) for i in range(1000)]
    training_function({"accumulate": 8, "lr": 1e-3}, torch.utils.data.DataLoader(dataset, batch_size=4))
