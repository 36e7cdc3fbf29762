import torch

try:
    from torch.amp import autocast
except ImportError:
    from torch.cuda.amp import autocast

if torch.__version__ >= "2.3":
    make_scaler = lambda: torch.amp.GradScaler("cuda")
else:
    from torch.cuda.amp import GradScaler

    make_scaler = lambda: GradScaler()

TORCH_2_4 = hasattr(torch.amp, "GradScaler")
scaler = torch.amp.GradScaler("cuda") if TORCH_2_4 else torch.cuda.amp.GradScaler()

with autocast():
    pass


class GradScaler2:
    pass


def local(torch):
    return torch.cuda.amp.GradScaler()
