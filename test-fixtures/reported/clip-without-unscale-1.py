# https://github.com/milesial/Pytorch-UNet/issues/468: gradients are clipped before they are unscaled.
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import optim


def train_model(model, device, train_loader, epochs=5, learning_rate=1e-5, amp=False, gradient_clipping=1.0):
    optimizer = optim.RMSprop(model.parameters(), lr=learning_rate, weight_decay=1e-8, momentum=0.999)
    grad_scaler = torch.amp.GradScaler("cuda", enabled=amp)
    criterion = nn.CrossEntropyLoss() if model.n_classes > 1 else nn.BCEWithLogitsLoss()
    for epoch in range(1, epochs + 1):
        model.train()
        epoch_loss = 0
        for batch in train_loader:
            images, true_masks = batch["image"].to(device), batch["mask"].to(device)
            with torch.autocast(device.type if device.type != "mps" else "cpu", enabled=amp):
                masks_pred = model(images)
                loss = criterion(masks_pred.squeeze(1), true_masks.float())
            optimizer.zero_grad(set_to_none=True)
            grad_scaler.scale(loss).backward()
            # expect-next: clip-without-unscale
            torch.nn.utils.clip_grad_norm_(model.parameters(), gradient_clipping)
            grad_scaler.step(optimizer)
            grad_scaler.update()
            epoch_loss += loss.item()
