# "No inf checks were recorded prior to update": the step moved into the guard, the update did not.
import torch
import torch.nn as nn

ACCUM_STEPS = 2
device = "cuda"


def train_fn(loader, model, optimizer, loss_fn, scaler):
    for batch_idx, (data, targets) in enumerate(loader):
        data = data.to(device)
        targets = targets.float().unsqueeze(1).to(device)
        with torch.autocast("cuda"):
            predictions = model(data)
            loss = loss_fn(predictions, targets) / ACCUM_STEPS
        scaler.scale(loss).backward()
        if (batch_idx + 1) % ACCUM_STEPS == 0 or (batch_idx + 1) == len(loader):
            scaler.step(optimizer)
            optimizer.zero_grad()
        scaler.update()  # expect: scaler-step-per-microbatch


def main():
    model = nn.Conv2d(3, 1, 3, padding=1).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    loader = [(torch.randn(4, 3, 32, 32), torch.ones(4, 32, 32)) for _ in range(100)]
    for _ in range(3):
        train_fn(loader, model, optimizer, nn.BCEWithLogitsLoss(), torch.amp.GradScaler("cuda"))


main()
