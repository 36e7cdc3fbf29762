# A text-to-image trainer under Accelerate: each process loads the checkpoint to the first GPU.
# https://github.com/lucidrains/imagen-pytorch/pull/132
from pathlib import Path

import torch
import torch.nn as nn
from accelerate import Accelerator


class ImagenTrainer(nn.Module):
    def __init__(self, imagen, lr=1e-4):
        super().__init__()
        self.accelerator = Accelerator()
        self.imagen = imagen
        self.optim = torch.optim.Adam(imagen.parameters(), lr=lr)
        self.imagen, self.optim = self.accelerator.prepare(self.imagen, self.optim)

    def save(self, path):
        torch.save({"model": self.imagen.state_dict(), "optim": self.optim.state_dict()}, str(path))

    def load(self, path, only_model=False, strict=True):
        path = Path(path)
        assert path.exists()
        loaded_obj = torch.load(str(path))  # expect: load-without-map-location
        self.imagen.load_state_dict(loaded_obj["model"], strict=strict)
        if not only_model:
            self.optim.load_state_dict(loaded_obj["optim"])
        return loaded_obj

    def train_step(self, images):
        loss = self.imagen(images)
        self.accelerator.backward(loss)
        self.optim.step()
        self.optim.zero_grad()
        return loss.item()


def main(imagen, loader, checkpoint):
    trainer = ImagenTrainer(imagen)
    loaded = trainer.load(checkpoint)
    print("resumed, version", loaded.get("version"))
    for images in loader:
        print(trainer.train_step(images.cuda()))
