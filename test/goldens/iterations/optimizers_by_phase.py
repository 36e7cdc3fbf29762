import torch
import torch.nn as nn

nets = {"d": nn.Sequential(nn.Linear(64, 128), nn.LeakyReLU(0.2), nn.Linear(128, 1)),
        "g": nn.Sequential(nn.Linear(16, 128), nn.ReLU(), nn.Linear(128, 64), nn.Tanh())}
opts = {k: torch.optim.Adam(n.parameters(), lr=2e-4, betas=(0.5, 0.999)) for k, n in nets.items()}
bce = nn.BCEWithLogitsLoss()
for step in range(4):
    real = torch.randn(32, 64)
    for phase in ("d", "g"):
        opts[phase].zero_grad()
        fake = nets["g"](torch.randn(32, 16))
        if phase == "d":
            loss = bce(nets["d"](real), torch.ones(32, 1)) + bce(nets["d"](fake.detach()), torch.zeros(32, 1))
        else:
            loss = bce(nets["d"](fake), torch.ones(32, 1))
        loss.backward()
        opts[phase].step()
