# https://github.com/thuml/Time-Series-Library/issues/740: both calls of an experiment warn.
import torch
import torch.nn as nn
from torch import optim


class Exp_Long_Term_Forecast:
    def __init__(self, args, model, device):
        self.args = args
        self.model = model.to(device)
        self.device = device

    def train(self, train_loader):
        model_optim = optim.Adam(self.model.parameters(), lr=self.args.learning_rate)
        criterion = nn.MSELoss()
        if self.args.use_amp:
            scaler = torch.cuda.amp.GradScaler()  # expect: deprecated-amp
        for epoch in range(self.args.train_epochs):
            self.model.train()
            for batch_x, batch_y in train_loader:
                model_optim.zero_grad()
                batch_x, batch_y = batch_x.float().to(self.device), batch_y.float().to(self.device)
                if self.args.use_amp:
                    with torch.cuda.amp.autocast():  # expect: deprecated-amp
                        outputs = self.model(batch_x)
                        loss = criterion(outputs, batch_y)
                    scaler.scale(loss).backward()
                    scaler.step(model_optim)
                    scaler.update()
                else:
                    loss = criterion(self.model(batch_x), batch_y)
                    loss.backward()
                    model_optim.step()
