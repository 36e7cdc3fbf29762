import torch
from torch import nn
from transformers import Trainer


class DistillationTrainer(Trainer):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.projection = nn.Linear(768, 768)

    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        projected = self.projection(inputs["features"])
        penalty = projected.pow(2).mean()
        self.log({"penalty": penalty, "scaled": penalty.item() * 2})  # expect: logged-tensor
        return (penalty, projected) if return_outputs else penalty
