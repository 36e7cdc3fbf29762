"""One of two is unscaled too late."""
import torch
from torch import nn


def train(encoder, decoder, loader, amp):
    first = torch.optim.Adam(encoder.parameters())
    second = torch.optim.Adam(decoder.parameters())
    scaler = torch.amp.GradScaler("cuda")
    for x, y in loader:
        first.zero_grad()
        second.zero_grad()
        if amp:
            with torch.autocast("cuda"):
                loss = nn.functional.mse_loss(decoder(encoder(x)), y)
            scaler.scale(loss).backward()
        else:
            loss = nn.functional.mse_loss(decoder(encoder(x)), y)
            loss.backward()
        nn.utils.clip_grad_norm_(encoder.parameters(), 1.0)  # expect: clip-without-unscale
        if amp:
            scaler.step(first)
            scaler.step(second)
            scaler.update()
        else:
            first.step()
            second.step()
