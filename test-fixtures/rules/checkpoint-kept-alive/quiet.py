import torch
from torch import nn

device = "cuda"
model = nn.Linear(128, 10).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
loader = [(torch.randn(32, 128), torch.randint(10, (32,))) for _ in range(100)]


def restore(path):
    checkpoint = torch.load(path, map_location=device)
    model.load_state_dict(checkpoint["model"])
    return checkpoint["epoch"]


restore("last.pt")

deleted = torch.load("last.pt", map_location=device)
model.load_state_dict(deleted["model"])
del deleted

emptied = torch.load("last.pt", map_location=device)
model.load_state_dict(emptied["model"])
emptied = None

on_cpu = torch.load("last.pt", map_location="cpu")
model.load_state_dict(on_cpu["model"])

by_function = torch.load("last.pt", map_location=lambda storage, location: storage)
model.load_state_dict(by_function["model"])

reference = torch.load("last.pt", map_location=device)
model.load_state_dict(reference)
best = torch.load("last.pt", map_location=device)
model.load_state_dict(best["model"])

for x, y in loader:
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x.to(device)), y.to(device))
    loss = loss + (model.weight - reference["weight"]).pow(2).sum()
    loss.backward()
    optimizer.step()

print(best["epoch"])
last = torch.load("last.pt", map_location=device)
model.load_state_dict(last["model"])
