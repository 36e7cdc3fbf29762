# Form of Pytorch-UNet's train.py: training starts over with checkpointing inside the handler.
import logging

import torch
from torch import nn, optim


def train_model(model, device, loader, epochs=5):
    optimizer = optim.RMSprop(model.parameters(), lr=1e-5)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(epochs):
        for batch in loader:
            masks_pred = model(batch["image"].to(device))
            loss = criterion(masks_pred, batch["mask"].to(device))
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    from unet import UNet, make_loader

    device = torch.device("cuda")
    model = UNet(n_channels=3, n_classes=2).to(device)
    try:
        train_model(model=model, device=device, loader=make_loader())
    except torch.cuda.OutOfMemoryError:
        logging.error("Detected OutOfMemoryError! Enabling checkpointing to reduce memory usage")
        torch.cuda.empty_cache()
        model.use_checkpointing()
        train_model(model=model, device=device, loader=make_loader())  # expect: oom-retry-in-except
