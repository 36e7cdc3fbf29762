# The zeroing (set_to_none) stands in the loop of the micro-batches, the step behind a counter.
import torch
from torch import nn

grad_accum_steps = 4
model = nn.Sequential(nn.Linear(256, 256), nn.SiLU(), nn.Linear(256, 256)).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-4)
accum_counter = 0

for images in torch.randn(400, 8, 256):
    images = images.cuda()
    optimizer.zero_grad(set_to_none=True)  # expect: zero-grad-each-microbatch
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = (model(images) - images).pow(2).mean()
    (loss / grad_accum_steps).backward()
    accum_counter += 1
    if accum_counter == grad_accum_steps:
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        accum_counter = 0
