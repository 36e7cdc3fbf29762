import argparse

import torch
from torch import nn


def main(args):
    model = nn.TransformerEncoder(nn.TransformerEncoderLayer(256, 8, batch_first=True), 4).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    for step in range(args.steps):
        x = torch.randn(args.batch_size, 128, 256, device="cuda")
        torch.autocast("cuda", dtype=torch.bfloat16)  # expect: no-grad-not-applied
        loss = (model(x) - x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 50 == 0:
            print(step, loss.item())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=1e-4)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--batch-size", type=int, default=16)
    main(parser.parse_args())
