# A tutorial for prompts: the optimizer and the scheduler step outside of the condition that only clips.
# https://github.com/thunlp/OpenPrompt/issues/106
import torch
from transformers import AutoModelForSeq2SeqLM, get_linear_schedule_with_warmup

gradient_accumulation_steps = 4
max_steps = 5000
prompt_model = AutoModelForSeq2SeqLM.from_pretrained("t5-large").cuda()
optimizer1 = torch.optim.AdamW(prompt_model.parameters(), lr=3e-5)
scheduler1 = get_linear_schedule_with_warmup(optimizer1, num_warmup_steps=500, num_training_steps=max_steps)


def train(train_dataloader):
    actual_step = 0
    glb_step = 0
    tot_loss = 0
    for epoch in range(1000):
        for step, inputs in enumerate(train_dataloader):
            loss = prompt_model(**inputs.to("cuda")).loss / gradient_accumulation_steps
            loss.backward()
            tot_loss += loss.item()
            actual_step += 1
            if actual_step % gradient_accumulation_steps == 0:
                torch.nn.utils.clip_grad_norm_(prompt_model.parameters(), 1.0)
                glb_step += 1
                optimizer1.step()
                optimizer1.zero_grad()
            scheduler1.step()  # expect: scheduler-step-per-microbatch
            if glb_step > max_steps:
                return tot_loss
