# https://github.com/WenjieDu/PyPOTS/issues/667: the best model of the run keeps being updated.
import numpy as np
import torch


class BaseNNModel:
    def __init__(self, model, patience, epochs):
        self.model = model
        self.patience = patience
        self.epochs = epochs
        self.best_model_dict = None
        self.best_loss = float("inf")
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3)

    def _train_model(self, training_loader, val_loader):
        patience = self.patience
        for epoch in range(1, self.epochs + 1):
            self.model.train()
            epoch_train_loss_collector = []
            for data in training_loader:
                self.optimizer.zero_grad()
                results = self.model(data)
                results["loss"].sum().backward()
                self.optimizer.step()
                epoch_train_loss_collector.append(results["loss"].sum().item())
            mean_loss = np.mean(epoch_train_loss_collector)
            if mean_loss < self.best_loss:
                self.best_loss = mean_loss
                self.best_model_dict = self.model.state_dict()  # expect: best-state-aliased
                patience = self.patience
            else:
                patience -= 1
            if patience == 0:
                break

    def fit(self, train_loader, val_loader):
        self._train_model(train_loader, val_loader)
        self.model.load_state_dict(self.best_model_dict)
        self.model.eval()
