# Form of https://github.com/Nerogar/OneTrainer/issues/1459: a helper collects on every step, half of the time goes there.
import gc

import torch


def torch_gc():
    gc.collect()  # expect: gc-collect-in-loop
    torch.cuda.empty_cache()  # expect: empty-cache-in-loop
    torch.cuda.ipc_collect()


class GenericTrainer:
    def __init__(self, model, data_loader):
        self.model = model
        self.data_loader = data_loader
        self.optimizer = torch.optim.AdamW(self.model.parameters())

    def train(self):
        for batch in self.data_loader:
            loss = self.model(batch).mean()
            loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad(set_to_none=True)
            torch_gc()
