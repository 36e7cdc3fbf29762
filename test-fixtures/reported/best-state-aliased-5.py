# Knowledge graph embedding: "best_model is always the same as the newest trainModel".
# https://github.com/thunlp/OpenKE/pull/131
import torch
import torch.nn as nn


class TransE(nn.Module):
    def __init__(self, entities, relations, dim=100):
        super().__init__()
        self.ent = nn.Embedding(entities, dim)
        self.rel = nn.Embedding(relations, dim)

    def forward(self, h, t, r):
        return (self.ent(h) + self.rel(r) - self.ent(t)).norm(dim=1).mean()


class Config:
    def set_train_model(self, entities, relations):
        self.trainModel = TransE(entities, relations).cuda()
        self.optimizer = torch.optim.Adagrad(self.trainModel.parameters(), lr=0.1)

    def train_one_step(self, batch):
        self.optimizer.zero_grad()
        loss = self.trainModel(*batch)
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def train_model(self, batches, valid, epochs, valid_steps=100, patience=10):
        best_hit10 = 0.0
        best_model = None
        bad_counts = 0
        for epoch in range(epochs):
            for batch in batches:
                self.train_one_step(batch)
            if (epoch + 1) % valid_steps == 0:
                hit10 = valid(self.trainModel)
                if hit10 > best_hit10:
                    best_hit10 = hit10
                    best_model = self.trainModel.state_dict()  # expect: best-state-aliased
                    bad_counts = 0
                else:
                    bad_counts += 1
                if bad_counts == patience:
                    break
        torch.save(best_model, "transe.ckpt")
        self.trainModel.load_state_dict(best_model)
