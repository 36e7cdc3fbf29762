# "Line 293 performs backward without first normalizing": an inner loop over micro-steps in a while loop.
# Form of https://github.com/karpathy/nanoGPT/issues/206
import torch
from torch import nn

gradient_accumulation_steps = 5 * 8
batch_size = 12
block_size = 1024
data = torch.randint(50304, (1000000,))
model = nn.Sequential(nn.Embedding(50304, 768), nn.Linear(768, 50304)).to("cuda")
optimizer = torch.optim.AdamW(model.parameters(), lr=6e-4, betas=(0.9, 0.95))
scaler = torch.amp.GradScaler("cuda", enabled=True)
ctx = torch.amp.autocast(device_type="cuda", dtype=torch.float16)


def get_batch():
    ix = torch.randint(len(data) - block_size, (batch_size,))
    x = torch.stack([data[i : i + block_size] for i in ix])
    y = torch.stack([data[i + 1 : i + 1 + block_size] for i in ix])
    return x.cuda(), y.cuda()


iter_num = 0
X, Y = get_batch()
while True:
    for micro_step in range(gradient_accumulation_steps):
        with ctx:
            logits = model(X)
            loss = nn.functional.cross_entropy(logits.view(-1, logits.size(-1)), Y.view(-1))
        X, Y = get_batch()
        scaler.scale(loss).backward()  # expect: accumulation-loss-not-scaled
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad(set_to_none=True)
    iter_num += 1
    if iter_num > 600000:
        break
