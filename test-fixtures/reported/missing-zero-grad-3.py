# An encoder is trained against a discriminator, and the optimizer of the discriminator was forgotten.
import torch
import torch.nn.functional as F
from torch import nn

E = nn.Sequential(nn.Flatten(), nn.Linear(3 * 32 * 32, 128)).cuda()
G = nn.Linear(128, 3 * 32 * 32).cuda().requires_grad_(False)
D = nn.Sequential(nn.Linear(3 * 32 * 32, 64), nn.ReLU(), nn.Linear(64, 1)).cuda()
optimizer_E = torch.optim.Adam(E.parameters(), lr=1e-4)
optimizer_D = torch.optim.Adam(D.parameters(), lr=1e-4)

for step, real in enumerate(torch.rand(200, 16, 3, 32, 32)):
    real = real.cuda()
    rec = G(E(real))
    loss_enc = F.mse_loss(rec, real.flatten(1)) - 0.1 * D(rec).mean()
    optimizer_E.zero_grad()
    loss_enc.backward()
    optimizer_E.step()

    fake = G(E(real)).detach()
    loss_D = F.softplus(D(fake)).mean() + F.softplus(-D(real.flatten(1))).mean()
    loss_D.backward()
    optimizer_D.step()  # expect: missing-zero-grad
