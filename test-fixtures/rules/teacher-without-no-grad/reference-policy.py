"""Preference optimization: log-probabilities of a frozen reference policy, inline in the loss."""
import torch
import torch.nn.functional as F
from transformers import AutoModelForCausalLM

policy = AutoModelForCausalLM.from_pretrained("gpt2").cuda()
ref_model = AutoModelForCausalLM.from_pretrained("gpt2").cuda().eval()
optimizer = torch.optim.AdamW([p for p in policy.parameters() if p.requires_grad], lr=1e-6)


def sequence_log_probs(logits, labels):
    return torch.gather(logits.log_softmax(-1), 2, labels.unsqueeze(2)).squeeze(2).sum(-1)


def train(loader, beta=0.1):
    for batch in loader:
        chosen = batch["chosen"].cuda()
        rejected = batch["rejected"].cuda()
        policy_chosen = sequence_log_probs(policy(chosen).logits, chosen)
        policy_rejected = sequence_log_probs(policy(rejected).logits, rejected)
        ref_chosen = sequence_log_probs(ref_model(chosen).logits, chosen)  # expect: teacher-without-no-grad
        ref_rejected = sequence_log_probs(ref_model(rejected).logits, rejected)  # expect: teacher-without-no-grad
        margin = (policy_chosen - policy_rejected) - (ref_chosen - ref_rejected)
        loss = -F.logsigmoid(beta * margin).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
