# eval() without a forward pass, forward itself, tests, tokenizers and processors, a model without trainable weights.
import torch
from torch import nn
from transformers import AutoProcessor


class Wrapper(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Linear(8, 8)
        self.head = nn.Linear(8, 2)
        self.backbone.eval()

    def forward(self, x):
        self.backbone.eval()
        return self.head(self.backbone(x))


def test_forward_shape():
    model = Wrapper()
    model.eval()
    assert model(torch.rand(3, 8)).shape == (3, 2)


def test_parameters_get_gradients(model=None):
    model = model or Wrapper()
    for test_batch in [torch.rand(2, 8)]:
        out = model(test_batch)
        assert out.requires_grad


def export(path):
    model = Wrapper()
    model.load_state_dict(torch.load(path, map_location="cpu"))
    model.eval()
    scripted = torch.jit.script(model)
    scripted.save("model.pt")


def prepare(images):
    processor = AutoProcessor.from_pretrained("openai/clip-vit-base-patch32")
    return [processor(images=image, return_tensors="pt") for image in images]


def frozen_scores(val_loader):
    scorer = nn.Linear(8, 1).eval()
    scorer.requires_grad_(False)
    total = 0.0
    for x in val_loader:
        total += scorer(x).mean().item()
    return total
