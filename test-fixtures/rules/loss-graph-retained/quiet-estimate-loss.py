import torch
from torch import nn

eval_iters, block_size, batch_size = 200, 64, 12
data = {"train": torch.randint(65, (100_000,)), "val": torch.randint(65, (10_000,))}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(65, 65)

    def forward(self, idx, targets):
        logits = self.table(idx)
        return logits, nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())


def get_batch(split):
    ix = torch.randint(len(data[split]) - block_size, (batch_size,))
    x = torch.stack([data[split][i : i + block_size] for i in ix])
    y = torch.stack([data[split][i + 1 : i + 1 + block_size] for i in ix])
    return x, y


@torch.no_grad()
def estimate_loss():
    out = {}
    model.eval()
    for split in ["train", "val"]:
        losses = torch.zeros(eval_iters)
        for k in range(eval_iters):
            X, Y = get_batch(split)
            logits, loss = model(X, Y)
            losses[k] = loss.item()
        out[split] = losses.mean()
    model.train()
    return out


model = Model()
optimizer = torch.optim.AdamW(model.parameters())
running_mfu = -1.0
for iter_num in range(2000):
    if iter_num % 500 == 0:
        losses = estimate_loss()
        print(f"step {iter_num}: train {losses['train']:.4f}, val {losses['val']:.4f}")
    X, Y = get_batch("train")
    logits, loss = model(X, Y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    lossf = loss.item()
    running_mfu = lossf if running_mfu == -1.0 else 0.9 * running_mfu + 0.1 * lossf
