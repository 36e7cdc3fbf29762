# "Shouldn't target be detached?" Both networks go through a function, the copy of the weights is made in main.
# https://github.com/seungeunrho/minimalRL/pull/41
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

gamma = 0.98
batch_size = 32


class Qnet(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 128)
        self.fc2 = nn.Linear(128, 2)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x)))


def train(q, q_target, memory, optimizer):
    for i in range(10):
        s, a, r, s_prime, done_mask = memory.sample(batch_size)
        q_out = q(s)
        q_a = q_out.gather(1, a)
        max_q_prime = q_target(s_prime).max(1)[0].unsqueeze(1)  # expect: teacher-without-no-grad
        target = r + gamma * max_q_prime * done_mask
        loss = F.smooth_l1_loss(q_a, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def main(env, memory):
    q = Qnet().cuda()
    q_target = Qnet().cuda()
    q_target.load_state_dict(q.state_dict())
    optimizer = optim.Adam(q.parameters(), lr=0.0005)
    for n_epi in range(10000):
        env.play(q, memory)
        if memory.size() > 2000:
            train(q, q_target, memory, optimizer)
        if n_epi % 20 == 0 and n_epi != 0:
            q_target.load_state_dict(q.state_dict())
