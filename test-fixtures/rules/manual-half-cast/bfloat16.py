"""Many train so on purpose: a hint only."""
import torch
from transformers import AutoModelForCausalLM


def main(loader):
    # expect-next: manual-half-cast
    model = AutoModelForCausalLM.from_pretrained("gpt2", torch_dtype=torch.bfloat16).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
    for batch in loader:
        optimizer.zero_grad()
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
