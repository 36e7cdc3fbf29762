# Unscaled and updated in each round of the inner loop.
import torch as th
import torch.nn.functional as F

grad_accum_steps = 8
net = th.nn.Linear(32, 8).cuda()
opt = th.optim.Adam(net.parameters())
grad_scaler = th.amp.GradScaler("cuda")


def batch():
    return th.randn(16, 32, device="cuda"), th.randint(8, (16,), device="cuda")


for update in range(1000):
    for micro in range(grad_accum_steps):
        x, y = batch()
        with th.autocast("cuda"):
            loss = F.cross_entropy(net(x), y) / grad_accum_steps
        grad_scaler.scale(loss).backward()
    grad_scaler.unscale_(opt)  # expect: scaler-step-per-microbatch
    th.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    grad_scaler.step(opt)
    grad_scaler.update()  # expect: scaler-step-per-microbatch
    opt.zero_grad()
