"""Early stopping in a class of its own; the wrapped model; loaded in the other arm."""
import torch


class EarlyStopping:
    def __init__(self, patience):
        self.patience = patience
        self.best = float("inf")
        self.best_state = None
        self.bad = 0

    def __call__(self, loss, model):
        if loss < self.best:
            self.best = loss
            self.best_state = model.state_dict()  # expect: best-state-aliased
            self.bad = 0
        else:
            self.bad += 1
        return self.bad > self.patience


class Trainer:
    def __init__(self, model, loader):
        self.model = torch.nn.DataParallel(model)
        self.loader = loader
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.best_loss = float("inf")

    def run_epoch(self):
        total = 0.0
        for x, y in self.loader:
            self.optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            total += loss.item()
        return total

    def fit(self, epochs):
        waiting = 0
        for epoch in range(epochs):
            loss = self.run_epoch()
            if loss < self.best_loss:
                self.best_loss = loss
                # expect-next: best-state-aliased
                self.weights = {"epoch": epoch, "model": self.model.module.state_dict()}
                waiting = 0
            elif waiting > 3:
                self.model.module.load_state_dict(self.weights["model"])
                break
            waiting += 1

    def fit_with_stopper(self, epochs):
        stopper = EarlyStopping(3)
        for epoch in range(epochs):
            if stopper(self.run_epoch(), self.model):
                break
        self.model.load_state_dict(stopper.best_state)
