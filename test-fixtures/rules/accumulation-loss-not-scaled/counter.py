# The group is counted by hand.
import torch as th
import torch.nn.functional as F
from torch.optim import Adam
from tqdm import tqdm

net = th.nn.GRU(80, 128, batch_first=True)
proj = th.nn.Linear(128, 30)
params = list(net.parameters()) + list(proj.parameters())
opt = Adam(params)
virtual_batches = 16
pending = 0
opt.zero_grad()

for features, tokens in tqdm([(th.randn(2, 50, 80), th.randint(30, (2, 50))) for _ in range(320)]):
    output, _ = net(features)
    loss = F.cross_entropy(proj(output).flatten(0, 1), tokens.flatten())
    loss.backward()  # expect: accumulation-loss-not-scaled
    pending += 1
    if pending == virtual_batches:
        th.nn.utils.clip_grad_norm_(params, 5.0)
        opt.step()
        opt.zero_grad()
        pending = 0
