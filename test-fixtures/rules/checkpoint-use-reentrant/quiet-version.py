import torch.utils.checkpoint
from diffusers.utils import is_torch_version


def forward(blocks, sample):
    if is_torch_version(">=", "1.11.0"):
        for block in blocks:
            sample = torch.utils.checkpoint.checkpoint(block, sample, use_reentrant=False)
    else:
        for block in blocks:
            sample = torch.utils.checkpoint.checkpoint(block, sample)
    return sample
