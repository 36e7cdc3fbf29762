import torch
import torch.nn as nn
from torch.distributions import Bernoulli, Independent, Normal, kl_divergence

BATCH, PIXELS, LATENT = 8, 64, 5


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(PIXELS, 32)
        self.mean = nn.Linear(32, LATENT)
        self.log_std = nn.Linear(32, LATENT)

    def forward(self, x):
        h = torch.relu(self.hidden(x))
        return Normal(self.mean(h), self.log_std(h).exp())


encoder = Encoder()
decoder = nn.Sequential(nn.Linear(LATENT, 32), nn.ReLU(), nn.Linear(32, PIXELS))
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-3)
prior = Normal(torch.zeros(LATENT), torch.ones(LATENT))

for step in range(4):
    x = torch.bernoulli(torch.rand(BATCH, PIXELS))
    posterior = encoder(x)
    z = posterior.rsample()
    likelihood = Independent(Bernoulli(logits=decoder(z)), 1).log_prob(x)
    divergence = kl_divergence(posterior, prior).sum(-1)
    loss = (divergence - likelihood).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
