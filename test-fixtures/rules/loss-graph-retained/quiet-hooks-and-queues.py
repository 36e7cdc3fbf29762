# Features from hooks that are cleared each step, a queue of keys made without gradients, preallocated rollouts.
import torch
from torch import nn

features = []
student = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 8))
teacher = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 8)).requires_grad_(False)
student[1].register_forward_hook(lambda module, inputs, output: features.append(output))
optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
queue = torch.randn(8, 1024)
pointer = 0

for x in torch.randn(500, 64, 16):
    features.clear()
    q = nn.functional.normalize(student(x), dim=1)
    with torch.no_grad():
        k = nn.functional.normalize(teacher(x), dim=1)
    logits = torch.cat([(q * k).sum(1, keepdim=True), q @ queue.clone()], dim=1)
    loss = nn.functional.cross_entropy(logits / 0.07, torch.zeros(64, dtype=torch.long)) + features[0].pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    queue[:, pointer : pointer + 64] = k.t()
    pointer = (pointer + 64) % 1024


def collect(agent, envs, num_steps, num_envs):
    obs = torch.zeros(num_steps, num_envs, 4)
    values = torch.zeros(num_steps, num_envs)
    logprobs = torch.zeros(num_steps, num_envs)
    next_obs = torch.tensor(envs.reset())
    for step in range(num_steps):
        obs[step] = next_obs
        with torch.no_grad():
            action, logprob, _, value = agent(next_obs)
            values[step] = value.flatten()
        logprobs[step] = logprob
        next_obs = torch.tensor(envs.step(action.numpy()))
    return obs, values, logprobs
