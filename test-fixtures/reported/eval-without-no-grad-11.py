# A network with the interface of scikit-learn: after each validation batch the memory grows.
# https://github.com/skorch-dev/skorch/issues/218
import torch


class NeuralNet:
    def __init__(self, module, criterion, optimizer=torch.optim.SGD, lr=0.01, max_epochs=10, device="cuda"):
        self.module = module
        self.criterion = criterion
        self.optimizer = optimizer
        self.lr = lr
        self.max_epochs = max_epochs
        self.device = device

    def initialize(self):
        self.module_ = self.module().to(self.device)
        self.criterion_ = self.criterion()
        self.optimizer_ = self.optimizer(self.module_.parameters(), lr=self.lr)
        return self

    def infer(self, Xi):
        return self.module_(Xi.to(self.device))

    def train_step(self, Xi, yi):
        self.module_.train()
        self.optimizer_.zero_grad()
        y_pred = self.infer(Xi)
        loss = self.criterion_(y_pred, yi.to(self.device))
        loss.backward()
        self.optimizer_.step()
        return {"loss": loss.item(), "y_pred": y_pred.detach()}

    def validation_step(self, Xi, yi):
        self.module_.eval()
        y_pred = self.infer(Xi)  # expect: eval-without-no-grad
        loss = self.criterion_(y_pred, yi.to(self.device))
        return {"loss": loss, "y_pred": y_pred}

    def fit_loop(self, iterator_train, iterator_valid):
        for epoch in range(self.max_epochs):
            for Xi, yi in iterator_train:
                self.train_step(Xi, yi)
            valid_loss = 0.0
            for Xi, yi in iterator_valid:
                step = self.validation_step(Xi, yi)
                valid_loss += step["loss"].item() * len(Xi)
