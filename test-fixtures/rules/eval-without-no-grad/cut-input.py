# A context that is cut to its end and assigned to its own name leads back to itself.
from transformers import GPT2LMHeadModel

model = GPT2LMHeadModel.from_pretrained("gpt2")
model.eval()


def generate_token(tokens):
    tokens = tokens[:, -512:]
    logits = model(input_ids=tokens).logits  # expect: eval-without-no-grad
    return logits[0, -1].argmax().item()
