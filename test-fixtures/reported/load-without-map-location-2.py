# https://github.com/lopuhin/transformer-lm/issues/21: out of memory while the optimizer's state is loaded on resume.
from pathlib import Path

import torch


def main(device_id, run_path, model, criterion, loader, lr):
    torch.distributed.init_process_group(backend="nccl", rank=device_id)
    device = torch.device("cuda", index=device_id)
    model.to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    run_path = Path(run_path)
    model_path, optimizer_path = run_path / "model.pt", run_path / "optim.pt"

    def load_model():
        state = torch.load(model_path)  # expect: load-without-map-location
        model.load_state_dict(state["state_dict"])
        optimizer.load_state_dict(torch.load(optimizer_path))  # expect: load-without-map-location
        return state["seen_tokens"]

    seen_tokens = load_model() if model_path.exists() else 0
    for tokens in loader:
        tokens = tokens.to(device)
        optimizer.zero_grad()
        loss = criterion(model(tokens[:, :-1]), tokens[:, 1:])
        loss.backward()
        optimizer.step()
        seen_tokens += tokens.numel()
