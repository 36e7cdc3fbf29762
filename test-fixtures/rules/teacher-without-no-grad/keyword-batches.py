"""Batches as keywords, behind a progress bar, with a prepared model."""

import torch
import torch.nn.functional as F
from accelerate import Accelerator
from tqdm.auto import tqdm
from transformers import AutoModelForCausalLM

accelerator = Accelerator(gradient_accumulation_steps=8)
model = AutoModelForCausalLM.from_pretrained("gpt2")
ref = AutoModelForCausalLM.from_pretrained("gpt2")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)

progress = tqdm(loader)
for step, batch in enumerate(progress):
    with accelerator.accumulate(model):
        out = model(**batch)
        ref_logits = ref(**batch).logits  # expect: teacher-without-no-grad
        kl = F.kl_div(F.log_softmax(out.logits, -1), F.softmax(ref_logits, -1), reduction="batchmean")
        loss = out.loss + 0.1 * kl
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
