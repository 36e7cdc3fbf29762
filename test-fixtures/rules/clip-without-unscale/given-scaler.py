"""Nothing but the name says what the scaler is."""
import torch


def train_one_epoch(model, loader, optimizer, loss_function, grad_scaler=None):
    for x, y in loader:
        optimizer.zero_grad()
        with torch.autocast("cuda"):
            loss = loss_function(model(x), y)
        if grad_scaler is not None:
            scaled = grad_scaler.scale(loss)
            scaled.backward()
            # expect-next: clip-without-unscale
            torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=5)
            grad_scaler.step(optimizer)
            grad_scaler.update()
        else:
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=5)
            optimizer.step()
