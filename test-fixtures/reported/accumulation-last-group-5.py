# The step is due when enough samples have been seen: the last batches of an epoch are ignored if they do not sum up.
# https://github.com/tomhosking/torchseq/issues/8
import torch
from torch import nn


class ModelAgent:
    def __init__(self, config, model, device):
        self.config = config
        self.model = model.to(device)
        self.device = device
        self.loss = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=config.lr)

    def train_one_epoch(self, data_loader):
        self.model.train()
        self.optimizer.zero_grad()
        steps_accum = 0
        for batch_idx, batch in enumerate(data_loader):
            batch = {k: v.to(self.device) for k, v in batch.items()}
            curr_batch_size = batch["s1"].size(0)
            logits = self.model(batch["s1"])
            loss = self.loss(logits.permute(0, 2, 1), batch["s2"])
            loss *= curr_batch_size / self.config.optim_batch_size
            loss.backward()
            steps_accum += curr_batch_size
            if steps_accum >= self.config.optim_batch_size:  # expect: accumulation-last-group
                nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
                self.optimizer.step()
                self.optimizer.zero_grad()
                steps_accum = 0
