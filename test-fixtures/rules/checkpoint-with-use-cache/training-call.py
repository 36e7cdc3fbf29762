import torch
from transformers import AutoModelForSeq2SeqLM


class Finetuner:
    def __init__(self):
        self.model = AutoModelForSeq2SeqLM.from_pretrained("t5-small").cuda()
        self.model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        self.optimizer = torch.optim.AdamW(self.model.parameters())

    def run_batch(self, batch):
        out = self.model(
            input_ids=batch["input_ids"],
            labels=batch["labels"],
            use_cache=True,  # expect: checkpoint-with-use-cache
        )
        out.loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
