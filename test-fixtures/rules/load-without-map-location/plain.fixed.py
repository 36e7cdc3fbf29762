import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(128, 10).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
loader = [(torch.randn(32, 128), torch.randint(10, (32,))) for _ in range(100)]

checkpoint = torch.load("last.pt", map_location="cpu")  # expect: load-without-map-location
model.load_state_dict(checkpoint["model"])
optimizer.load_state_dict(checkpoint["optimizer"])
start = checkpoint["epoch"] + 1

for epoch in range(start, 10):
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}, "last.pt")

model.load_state_dict(torch.load('best.pt', map_location="cpu", weights_only=True))  # expect: load-without-map-location
