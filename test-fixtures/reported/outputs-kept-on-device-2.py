# "Move all output predictions to cpu() before running torch.cat": a predict method over a loader.
# https://github.com/nitrain/nitrain/issues/27
import torch
from torch import nn


class ModuleTrainer:
    def __init__(self, model: nn.Module):
        self.model = model.cuda()

    def predict_loader(self, loader):
        self.model.eval()
        prediction_list = []
        for batch_idx, (inputs, _) in enumerate(loader):
            with torch.no_grad():
                output_batch = self.model(inputs.cuda())
            prediction_list.append(output_batch)  # expect: outputs-kept-on-device
        return torch.cat(prediction_list, 0)
