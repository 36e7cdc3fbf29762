# "torch.no_grad() is not used in validate(). I think it should be": a trainer of a translation toolkit.
# https://github.com/OpenNMT/OpenNMT-py/issues/1141
import torch
from torch import nn


class Statistics:
    def __init__(self, loss=0, n_words=0):
        self.loss = loss
        self.n_words = n_words

    def update(self, stat):
        self.loss += stat.loss
        self.n_words += stat.n_words


class LossCompute(nn.Module):
    def __init__(self, generator, criterion):
        super().__init__()
        self.generator = generator
        self.criterion = criterion

    def monolithic_compute_loss(self, batch, output):
        scores = self.generator(output)
        loss = self.criterion(scores.view(-1, scores.size(-1)), batch.tgt.view(-1))
        return Statistics(loss.item(), batch.tgt.ne(0).sum().item())


class Trainer:
    def __init__(self, model, train_loss, valid_loss, optim):
        self.model = model
        self.train_loss = train_loss
        self.valid_loss = valid_loss
        self.optim = optim

    def validate(self, valid_iter):
        """Validates the model on `valid_iter`."""
        self.model.eval()
        stats = Statistics()
        for batch in valid_iter:
            src, src_lengths = batch.src
            outputs, attns, _ = self.model(src, batch.tgt, src_lengths)  # expect: eval-without-no-grad
            batch_stats = self.valid_loss.monolithic_compute_loss(batch, outputs)
            stats.update(batch_stats)
        self.model.train()
        return stats
