# The checkpoint is mapped to the GPU and its name stays: "able to train from scratch, unable to resume".
# https://github.com/karpathy/nanoGPT/pull/236
import os

import torch
from torch import nn

init_from = "resume"
out_dir = "out"
device = "cuda"
max_iters = 600000
iter_num = 0
model = nn.TransformerEncoder(nn.TransformerEncoderLayer(768, 12, batch_first=True), 12)
if init_from == "resume":
    checkpoint = torch.load(os.path.join(out_dir, "ckpt.pt"), map_location=device)  # expect: checkpoint-kept-alive
    state_dict = checkpoint["model"]
    model.load_state_dict(state_dict)
    iter_num = checkpoint["iter_num"]
model.to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=6e-4)
if init_from == "resume":
    optimizer.load_state_dict(checkpoint["optimizer"])

while iter_num < max_iters:
    x = torch.randn(12, 1024, 768, device=device)
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    iter_num += 1
