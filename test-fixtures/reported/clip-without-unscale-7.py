# An updater that owns optimizer and scaler: "the effective threshold with AMP is reduced by a factor of 65k".
# https://github.com/rwth-i6/returnn/issues/1590
import torch


class Updater:
    def __init__(self, network, config):
        self.network = network
        self.optimizer = torch.optim.AdamW(network.parameters(), lr=config["learning_rate"])
        self._grad_clip_global_norm = config.get("gradient_clip_global_norm", 0.0)
        self._grad_scaler = torch.amp.GradScaler("cuda") if config.get("amp") else None

    def step(self):
        if self._grad_clip_global_norm:
            # expect-next: clip-without-unscale
            torch.nn.utils.clip_grad_norm_(self.network.parameters(), self._grad_clip_global_norm)
        if self._grad_scaler is not None:
            self._grad_scaler.step(self.optimizer)
            self._grad_scaler.update()
        else:
            self.optimizer.step()
        self.optimizer.zero_grad()

    def backward(self, loss):
        if self._grad_scaler is not None:
            self._grad_scaler.scale(loss).backward()
        else:
            loss.backward()


def train(network, batches, config):
    network.to("cuda")
    updater = Updater(network, config)
    for x, y in batches:
        with torch.autocast("cuda", enabled=bool(config.get("amp"))):
            loss = torch.nn.functional.cross_entropy(network(x.cuda()), y.cuda())
        updater.backward(loss)
        updater.step()
