# https://github.com/teamtomo/membrain-seg/issues/120: a warning in every prediction.
import torch


def segment(inferer, model, loader, device):
    model.to(device).eval()
    predictions = []
    for volume in loader:
        volume = volume.to(device)
        with torch.no_grad():
            with torch.amp.autocast("cuda"):  # expect: deprecated-amp
                predictions.append(inferer(volume, model).cpu())
    return predictions
