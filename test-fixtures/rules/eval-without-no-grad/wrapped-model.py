# The model is wrapped, put into eval mode where it is made, and called by its forward method.
import argparse

import torch as th
import torch.nn as nn
from torch.utils.data import DataLoader


def load(path, device):
    net = nn.Sequential(nn.Linear(300, 128), nn.ReLU(), nn.Linear(128, 2))
    net.load_state_dict(th.load(path, map_location=device))
    return nn.DataParallel(net).to(device).eval()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("weights")
    args = parser.parse_args()
    device = th.device("cuda")
    model = load(args.weights, device)
    dataloader = DataLoader(th.randn(10_000, 300), batch_size=500)
    predictions = []
    for batch in dataloader:
        logits = model.forward(batch.to(device))  # expect: eval-without-no-grad
        predictions.extend(logits.argmax(dim=1).tolist())
    print(sum(predictions) / len(predictions))


if __name__ == "__main__":
    main()
