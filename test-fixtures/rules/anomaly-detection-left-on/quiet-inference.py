# Nothing here trains: what runs under no_grad has no graph that could be traced.
import sys

import torch

from games import build_game, get_loader


def main(options):
    torch.autograd.set_detect_anomaly(True)
    game = build_game(options).cuda()
    game.train(False)
    found = []
    with torch.no_grad():
        for batch in get_loader(options):
            found.append(game(batch.cuda()).cpu())
    torch.save(found, "found.pt")


if __name__ == "__main__":
    torch.autograd.set_detect_anomaly(True)
    main(sys.argv[1:])
