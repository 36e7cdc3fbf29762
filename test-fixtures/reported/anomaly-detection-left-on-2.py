# Form of https://github.com/facebookresearch/svoice/issues/17: the solver's loop runs all of its batches in the mode.
import torch


class Solver:
    def __init__(self, data, model, optimizer):
        self.tr_loader = data["tr_loader"]
        self.model = model
        self.optimizer = optimizer

    def _run_one_epoch(self, epoch):
        total_loss = 0
        for i, data in enumerate(self.tr_loader):
            mixture, lengths, sources = [x.cuda() for x in data]
            estimate_source = self.model(mixture)
            with torch.autograd.set_detect_anomaly(True):  # expect: anomaly-detection-left-on
                loss = (estimate_source - sources).abs().mean()
                self.optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
                self.optimizer.step()
            total_loss += loss.item()
        return total_loss / (i + 1)
