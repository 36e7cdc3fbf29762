# https://github.com/X-GenGroup/Flow-Factory/pull/186: one autocast around the whole update loop; the loss stays flat.
import torch


class Trainer:
    def __init__(self, transformer, reference, beta):
        self.transformer = transformer
        self.reference = reference
        self.beta = beta
        self.optimizer = torch.optim.AdamW(transformer.parameters(), lr=1e-5)

    def optimize(self, samples):
        self.transformer.train()
        with torch.autocast("cuda", dtype=torch.bfloat16):
            for batch in samples:
                for step in range(batch["timesteps"].shape[1]):
                    prediction = self.transformer(batch["latents"][:, step], batch["timesteps"][:, step])
                    with torch.no_grad():
                        expected = self.reference(batch["latents"][:, step], batch["timesteps"][:, step])
                    loss = (prediction - batch["noise"][:, step]).pow(2).mean()
                    loss = loss + self.beta * (prediction - expected).pow(2).mean()
                    loss.backward()  # expect: backward-in-autocast
                    self.optimizer.step()
                    self.optimizer.zero_grad()
