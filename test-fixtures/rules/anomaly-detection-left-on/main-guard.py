import torch
import argparse


def setup(args):
    torch.manual_seed(args.seed)
    torch.autograd.set_detect_anomaly(True)  # expect: anomaly-detection-left-on
    torch.backends.cudnn.benchmark = True


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    setup(parser.parse_args())
