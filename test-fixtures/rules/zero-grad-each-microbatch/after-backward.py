# The zeroing stands after the guard instead of inside it.
import torch as T

ACCUM = 4
net = T.nn.Sequential(T.nn.Linear(24, 48), T.nn.ReLU(), T.nn.Linear(48, 1))
opt = T.optim.SGD(net.parameters(), lr=1e-2)

micro = 0
while micro < 4000:
    x, y = T.randn(8, 24), T.randn(8, 1)
    loss = T.nn.functional.mse_loss(net(x), y)
    loss = loss / ACCUM
    loss.backward()
    micro += 1
    if micro % ACCUM == 0:
        T.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
    net.zero_grad()  # expect: zero-grad-each-microbatch
