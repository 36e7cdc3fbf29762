# An iterator made by hand and stepped with next(): "when performing the validation you can wrap the code".
# https://github.com/chrischoy/FCGF/issues/15
import torch
from torch import nn
from torch.nn import functional as F


class ContrastiveTrainer:
    def __init__(self, model, data_loader, val_data_loader, lr=0.1):
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.model = model.to(self.device)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=lr, momentum=0.8)
        self.data_loader = data_loader
        self.val_data_loader = val_data_loader

    def _train_epoch(self, epoch):
        self.model.train()
        data_loader_iter = self.data_loader.__iter__()
        for curr_iter in range(len(self.data_loader)):
            self.optimizer.zero_grad()
            input_dict = next(data_loader_iter)
            F0 = self.model(input_dict["xyz0"].to(self.device))
            F1 = self.model(input_dict["xyz1"].to(self.device))
            loss = (F0 - F1).pow(2).sum(-1).mean()
            loss.backward()
            self.optimizer.step()

    def _valid_epoch(self):
        self.model.eval()
        hits = 0.0
        data_loader_iter = self.val_data_loader.__iter__()
        for batch_idx in range(len(self.val_data_loader)):
            input_dict = next(data_loader_iter)
            F0 = self.model(input_dict["xyz0"].to(self.device))  # expect: eval-without-no-grad
            F1 = self.model(input_dict["xyz1"].to(self.device))
            distances = torch.cdist(F0, F1)
            hits += (distances.argmin(1).cpu() == input_dict["matches"]).float().mean().item()
        return hits / len(self.val_data_loader)
