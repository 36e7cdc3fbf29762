import torch
from torch import nn
from torch.cuda import empty_cache
from tqdm import tqdm


class Trainer:
    def __init__(self, model, train_loader, val_loader):
        self.model = model.cuda()
        self.train_loader = train_loader
        self.val_loader = val_loader
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4)

    def run(self, epochs):
        for epoch in range(epochs):
            for batch in tqdm(self.train_loader):
                empty_cache()  # expect: empty-cache-in-loop
                self.step(batch)
            self.validate()

    def step(self, batch):
        x, y = batch
        self.optimizer.zero_grad()
        loss = nn.functional.l1_loss(self.model(x.cuda()), y.cuda())
        loss.backward()
        self.optimizer.step()

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        total = 0.0
        for i, (x, y) in enumerate(self.val_loader):
            prediction = self.model(x.cuda())
            total += nn.functional.l1_loss(prediction, y.cuda()).item()
            del prediction, x, y
            empty_cache()  # expect: empty-cache-in-loop
        self.model.train()
        print("validation", total / len(self.val_loader))


if __name__ == "__main__":
    batches = [(torch.randn(16, 32), torch.randn(16, 1)) for _ in range(20)]
    Trainer(nn.Linear(32, 1), batches, batches[:5]).run(3)
