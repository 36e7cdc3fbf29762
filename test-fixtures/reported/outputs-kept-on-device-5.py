# get_preds over a large test set: outputs in one list for each output, all of them on the GPU until the end.
# https://github.com/muellerzr/fastinference/issues/7
import torch
from torch import nn
from torch.utils.data import DataLoader


class Learner:
    def __init__(self, model: nn.Module, n_out: int):
        self.model = model.cuda()
        self.n_out = n_out


def get_preds(learn: Learner, dl: DataLoader, raw_outs=False):
    outs = [[] for _ in range(learn.n_out)]
    learn.model.eval()
    with torch.no_grad():
        for batch in dl:
            out = learn.model(batch[0].cuda())
            for i in range(learn.n_out):
                outs[i].append(out[i])  # expect: outputs-kept-on-device
    outs = [torch.cat(o) for o in outs]
    return outs if raw_outs else [o.softmax(-1).cpu() for o in outs]
