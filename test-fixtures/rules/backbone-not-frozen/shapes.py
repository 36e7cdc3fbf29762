import timm
import torch
from torch.optim import AdamW


class Trainer:
    def __init__(self, loader, classes):
        self.loader = loader
        self.net = timm.create_model("vit_base_patch16_224", pretrained=True, num_classes=classes)
        head = self.net.head.parameters()
        self.optimizer = AdamW(head, lr=1e-4)  # expect: backbone-not-frozen

    def fit(self, epochs):
        for _ in range(epochs):
            for images, labels in self.loader:
                self.optimizer.zero_grad(set_to_none=True)
                loss = torch.nn.functional.cross_entropy(self.net(images), labels)
                loss.backward()
                self.optimizer.step()
