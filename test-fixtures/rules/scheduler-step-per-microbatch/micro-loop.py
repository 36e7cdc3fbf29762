# Inside the loop over micro-batches; nothing says what the milestones count.
import torch as th

gradient_accumulation_steps = 4
net = th.nn.Linear(8, 1)
opt = th.optim.Adam(net.parameters())
decay = th.optim.lr_scheduler.MultiStepLR(opt, milestones=[3000, 6000])

step = 0
while step < 10000:
    for micro_step in range(gradient_accumulation_steps):
        loss = net(th.randn(16, 8)).pow(2).mean() / gradient_accumulation_steps
        loss.backward()
        decay.step()  # expect: scheduler-step-per-microbatch
    opt.step()
    opt.zero_grad(set_to_none=True)
    step += 1
