import torch
from torch.autograd import set_detect_anomaly


class Trainer:
    def __init__(self, model, loader):
        set_detect_anomaly(mode=True)  # expect: anomaly-detection-left-on
        self.model = model
        self.loader = loader
        self.optimizer = torch.optim.Adam(self.model.parameters())

    def train_step(self, batch):
        with torch.autograd.set_detect_anomaly(True, check_nan=False):  # expect: anomaly-detection-left-on
            loss = self.model(batch).mean()
            loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()

    def fit(self):
        for batch in self.loader:
            self.train_step(batch)
