# Form of https://github.com/haofeixu/aanet/issues/22: 68 ms a pair without, 123 ms with synchronization.
import time

import torch

from nets import AANet

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def main(test_loader, aanet: torch.nn.Module):
    aanet = aanet.to(device).eval()
    inference_time = 0
    for i, sample in enumerate(test_loader):
        left = sample["left"].to(device)
        right = sample["right"].to(device)
        with torch.no_grad():
            time_start = time.perf_counter()
            pred_disp = aanet(left, right)[-1]
            inference_time += time.perf_counter() - time_start  # expect: timing-without-synchronize
    return inference_time, AANet
