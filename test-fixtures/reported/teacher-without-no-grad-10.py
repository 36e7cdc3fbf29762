# Preference optimisation: "the reference model was unnecessarily computing gradient information, which wasted memory".
# https://github.com/rasbt/LLMs-from-scratch/pull/473
import torch
import torch.nn as nn
import torch.nn.functional as F


class GPTModel(nn.Module):
    def __init__(self, vocab=50257, width=768):
        super().__init__()
        self.tok_emb = nn.Embedding(vocab, width)
        self.blocks = nn.Sequential(*[nn.TransformerEncoderLayer(width, 12, batch_first=True) for _ in range(12)])
        self.out_head = nn.Linear(width, vocab, bias=False)

    def forward(self, ids):
        return self.out_head(self.blocks(self.tok_emb(ids)))


def compute_logprobs(logits, labels):
    log_probs = F.log_softmax(logits[:, :-1], dim=-1)
    return torch.gather(log_probs, -1, labels[:, 1:].unsqueeze(-1)).squeeze(-1).mean(-1)


def compute_dpo_loss(policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta):
    logits = (policy_chosen - policy_rejected) - (reference_chosen - reference_rejected)
    return -F.logsigmoid(beta * logits).mean()


def compute_dpo_loss_batch(batch, policy_model, reference_model, beta):
    policy_chosen = compute_logprobs(policy_model(batch["chosen"]), batch["chosen"])
    policy_rejected = compute_logprobs(policy_model(batch["rejected"]), batch["rejected"])
    # expect-next: teacher-without-no-grad
    ref_chosen = compute_logprobs(reference_model(batch["chosen"]), batch["chosen"])
    # expect-next: teacher-without-no-grad
    ref_rejected = compute_logprobs(reference_model(batch["rejected"]), batch["rejected"])
    return compute_dpo_loss(policy_chosen, policy_rejected, ref_chosen, ref_rejected, beta)


def train_model_dpo_simple(policy_model, reference_model, train_loader, optimizer, num_epochs, beta):
    for epoch in range(num_epochs):
        policy_model.train()
        for batch in train_loader:
            optimizer.zero_grad()
            loss = compute_dpo_loss_batch(batch, policy_model, reference_model, beta)
            loss.backward()
            optimizer.step()


def main(train_loader):
    policy_model = GPTModel()
    reference_model = GPTModel()
    reference_model.load_state_dict(policy_model.state_dict())
    reference_model.eval()
    policy_model.to("cuda")
    reference_model.to("cuda")
    optimizer = torch.optim.AdamW(policy_model.parameters(), lr=5e-6, weight_decay=0.01)
    train_model_dpo_simple(policy_model, reference_model, train_loader, optimizer, num_epochs=1, beta=0.1)
