# "If data length is not divisible by gradient_accumulation_steps some gradients are lost."
# https://github.com/timoschick/pet/issues/36
import torch
from torch.utils.data import DataLoader, RandomSampler, TensorDataset
from tqdm import trange
from tqdm import tqdm
from transformers import BertForMaskedLM, get_linear_schedule_with_warmup


class TransformerModelWrapper:
    def __init__(self, name):
        self.model = BertForMaskedLM.from_pretrained(name)

    def train(self, features, device, num_train_epochs=3, gradient_accumulation_steps=4, max_grad_norm=1.0):
        dataset = TensorDataset(features["input_ids"], features["labels"])
        train_dataloader = DataLoader(dataset, sampler=RandomSampler(dataset), batch_size=8)
        t_total = len(train_dataloader) // gradient_accumulation_steps * num_train_epochs
        optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-5)
        scheduler = get_linear_schedule_with_warmup(optimizer, 0, t_total)
        self.model.to(device)
        global_step = 0
        self.model.zero_grad()
        for _ in trange(int(num_train_epochs), desc="Epoch"):
            epoch_iterator = tqdm(train_dataloader, desc="Iteration")
            for step, batch in enumerate(epoch_iterator):
                self.model.train()
                input_ids, labels = (t.to(device) for t in batch)
                loss = self.model(input_ids, labels=labels).loss
                if gradient_accumulation_steps > 1:
                    loss = loss / gradient_accumulation_steps
                loss.backward()
                if (step + 1) % gradient_accumulation_steps == 0:  # expect: accumulation-last-group
                    torch.nn.utils.clip_grad_norm_(self.model.parameters(), max_grad_norm)
                    optimizer.step()
                    scheduler.step()
                    self.model.zero_grad()
                    global_step += 1
        return global_step
