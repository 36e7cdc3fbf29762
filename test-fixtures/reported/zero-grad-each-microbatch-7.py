# "optimizer.zero_grad() must be put to the end of a training iteration": the order of a guide, before the backward.
# https://github.com/huggingface/accelerate/issues/1299
import torch
import torch.nn.functional as F
from accelerate import Accelerator


def train(model, dataset):
    accelerator = Accelerator(gradient_accumulation_steps=4)
    optimizer = torch.optim.Adam(model.parameters())
    data = torch.utils.data.DataLoader(dataset, shuffle=True)
    model, optimizer, data = accelerator.prepare(model, optimizer, data)
    model.train()
    for epoch in range(10):
        for source, targets in data:
            with accelerator.accumulate(model):
                optimizer.zero_grad()  # expect: zero-grad-each-microbatch
                output = model(source)
                loss = F.cross_entropy(output, targets)
                accelerator.backward(loss)
                optimizer.step()
