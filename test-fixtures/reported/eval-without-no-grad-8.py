# A language model written from scratch whose generate() was not told that nothing is trained in it.
import torch
from torch import nn
from torch.nn import functional as F
class GPTLanguageModel(nn.Module):
    def __init__(self, vocab_size, n_embd, block_size):
        super().__init__()
        self.tok = nn.Embedding(vocab_size, n_embd)
        self.lm_head = nn.Linear(n_embd, vocab_size)
        self.block_size = block_size
    def forward(self, idx, targets=None):
        logits = self.lm_head(self.tok(idx))
        if targets is None:
            return logits, None
        return logits, F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))
    def generate(self, idx, max_new_tokens):
        for _ in range(max_new_tokens):
            idx_cond = idx[:, -self.block_size:]
            logits, loss = self(idx_cond)  # expect: eval-without-no-grad
            probs = F.softmax(logits[:, -1, :], dim=-1)
            idx_next = torch.multinomial(probs, num_samples=1)
            idx = torch.cat((idx, idx_next), dim=1)
        return idx

model = GPTLanguageModel(65, 384, 256).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
for it in range(5000):
    xb, yb = torch.randint(65, (64, 256)).cuda(), torch.randint(65, (64, 256)).cuda()
    _, loss = model(xb, yb)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
print(model.generate(torch.zeros((1, 1), dtype=torch.long, device="cuda"), max_new_tokens=500))
