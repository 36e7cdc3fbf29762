# https://github.com/pytorch/examples/issues/1196: the trainer of minGPT clips scaled gradients.
import torch


class Trainer:
    def __init__(self, trainer_config, model, optimizer, train_loader):
        self.config = trainer_config
        self.model = model.to("cuda")
        self.optimizer = optimizer
        self.train_loader = train_loader
        if self.config.use_amp:
            self.scaler = torch.amp.GradScaler("cuda")

    def _run_batch(self, source, targets, train=True):
        with (
            torch.set_grad_enabled(train),
            torch.amp.autocast(device_type="cuda", dtype=torch.float16, enabled=self.config.use_amp),
        ):
            _, loss = self.model(source, targets)

        if train:
            self.optimizer.zero_grad(set_to_none=True)
            if self.config.use_amp:
                self.scaler.scale(loss).backward()
                # expect-next: clip-without-unscale
                torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.config.grad_norm_clip)
                self.scaler.step(self.optimizer)
                self.scaler.update()
            else:
                loss.backward()
                torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.config.grad_norm_clip)
                self.optimizer.step()
        return loss.item()

    def train(self, epochs):
        for epoch in range(epochs):
            for source, targets in self.train_loader:
                self._run_batch(source.to("cuda"), targets.to("cuda"))
