"""A model that is exported is run on an example once, and two models are compared on a written-out one."""
import numpy as np
import torch
from torchvision.models import resnet34


def export(path):
    model = resnet34(num_classes=5)
    model.eval()
    x = torch.rand(1, 3, 224, 224, requires_grad=True)
    expected = model(x)
    torch.onnx.export(model, x, path, input_names=["input"], output_names=["output"])
    np.testing.assert_allclose(expected.detach().cpu().numpy(), run(path, x), rtol=1e-3)


def trace(path):
    model = resnet34().eval()
    example = torch.rand(1, 3, 224, 224)
    model(example)
    torch.jit.trace(model, example).save(path)


def check(reference, sharded, rank):
    reference.eval()
    sharded.eval()
    input_ids = torch.tensor([[1, 9, 10, 11, 2]]) if rank == 0 else torch.tensor([[1, 12, 10, 13, 2]])
    mask = torch.ones_like(input_ids, dtype=torch.bool)
    expected = reference(input_ids, attention_mask=mask)
    actual = sharded(input_ids, attention_mask=mask)
    torch.testing.assert_close(actual.logits, expected.logits)


def run(path, x):
    import onnxruntime

    return onnxruntime.InferenceSession(path).run(None, {"input": x.detach().numpy()})[0]
