"""nanoGPT-like step whose zeroing slipped into the micro loop."""
import torch
import torch.nn.functional as F
from torch import nn

gradient_accumulation_steps = 5 * 8
batch_size, block_size, vocabulary = 12, 128, 1000
data = torch.randint(vocabulary, (100_000,))


class Bigram(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(vocabulary, vocabulary)

    def forward(self, idx, targets):
        logits = self.table(idx)
        return logits, F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def get_batch():
    ix = torch.randint(len(data) - block_size, (batch_size,))
    x = torch.stack([data[i : i + block_size] for i in ix])
    y = torch.stack([data[i + 1 : i + 1 + block_size] for i in ix])
    return x, y


model = Bigram()
optimizer = torch.optim.AdamW(model.parameters(), lr=6e-4)
for iter_num in range(600):
    for micro_step in range(gradient_accumulation_steps):
        X, Y = get_batch()
        optimizer.zero_grad(set_to_none=True)  # expect: zero-grad-each-microbatch
        logits, loss = model(X, Y)
        loss = loss / gradient_accumulation_steps
        loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
