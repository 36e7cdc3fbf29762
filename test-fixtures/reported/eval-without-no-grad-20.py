# Perplexity summed as a tensor in evaluation under eval only.
import math

import torch
from transformers import GPT2LMHeadModel

model = GPT2LMHeadModel.from_pretrained("gpt2").cuda()
model.eval()
nlls = []
for ids in chunks:
    ids = ids.cuda()
    nlls.append(model(ids, labels=ids).loss)  # expect: eval-without-no-grad, loss-graph-retained
print(math.exp(torch.stack(nlls).mean()))
