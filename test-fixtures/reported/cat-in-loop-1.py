# All features of a video folder in one array that each batch is joined to.
# Form of https://github.com/tridivb/slowfast_feature_extractor/pull/3
import torch
from torch import nn
from tqdm import tqdm


@torch.no_grad()
def perform_inference(test_loader, model):
    model.eval()
    feat_arr = None
    for inputs in tqdm(test_loader):
        inputs = inputs.cuda(non_blocking=True)
        preds, feat = model(inputs)
        if feat_arr is None:
            feat_arr = feat
        else:
            feat_arr = torch.cat((feat_arr, feat), dim=0)  # expect: cat-in-loop
    return feat_arr


def test(loader):
    model = nn.DataParallel(torch.hub.load("facebookresearch/pytorchvideo", "slowfast_r50")).cuda()
    return perform_inference(loader, model).cpu().numpy()
