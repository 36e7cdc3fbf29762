# %%
import torch
from torch import nn, optim

# %%
gen = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 784)).cuda()
dis = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 1)).cuda()
g_opt, d_opt = optim.Adam(gen.parameters()), optim.Adam(dis.parameters())
bce = nn.BCEWithLogitsLoss()
batches = torch.rand(500, 64, 784)

# %%
for epoch in range(5):
    for i, real in enumerate(batches):
        real = real.cuda()
        one, zero = torch.ones(64, 1).cuda(), torch.zeros(64, 1).cuda()
        fake = gen(torch.randn(64, 64).cuda())
        d_opt.zero_grad()
        (bce(dis(real), one) + bce(dis(fake.detach()), zero)).backward()
        d_opt.step()
        g_opt.zero_grad()
        bce(dis(fake), one).backward()
        g_opt.step()
        # free the memory of both networks
        with torch.cuda.device(0):
            torch.cuda.empty_cache()  # expect: empty-cache-in-loop
    torch.cuda.empty_cache()
