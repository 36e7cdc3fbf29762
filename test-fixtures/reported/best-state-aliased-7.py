# Binding affinity: the weights of the epoch with the least validation loss, retrained and reported as the last ones.
# https://github.com/THGLab/LP-PDBBind/pull/1
import torch
import torch.nn as nn


class DeepDTA(nn.Module):
    def __init__(self):
        super().__init__()
        self.ligand = nn.Conv1d(64, 96, 6)
        self.protein = nn.Conv1d(25, 96, 8)
        self.dense = nn.Linear(192, 1)

    def forward(self, ligand, protein):
        return self.dense(torch.cat([self.ligand(ligand).amax(2), self.protein(protein).amax(2)], 1)).squeeze(1)


def train_epoch(model, loader, optimizer):
    model.train()
    for ligand, protein, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(ligand.cuda(), protein.cuda()), y.cuda())
        loss.backward()
        optimizer.step()


@torch.no_grad()
def validate(model, loader):
    model.eval()
    return sum(nn.functional.mse_loss(model(l.cuda(), p.cuda()), y.cuda()).item() for l, p, y in loader)


def main(train_loader, val_loader, epochs=100):
    model = DeepDTA().cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    best_epoch, best_val, best_weights = -1, float("inf"), None
    for epoch in range(epochs):
        train_epoch(model, train_loader, optimizer)
        loss = validate(model, val_loader)
        if loss < best_val:
            best_epoch, best_val, best_weights = epoch, loss, model.state_dict()  # expect: best-state-aliased
    print("best epoch", best_epoch)
    model.load_state_dict(best_weights)
    torch.save(model.state_dict(), "best.pt")
