import os

import torch


def load_checkpoint(path, device):
    assert os.path.isfile(path)
    print(f"Loading {path}")
    checkpoint = torch.load(path, map_location=device)
    print("Complete.")
    return checkpoint


def load_epoch(path, device):
    checkpoint = torch.load(path, map_location=device)
    return checkpoint["epoch"]
