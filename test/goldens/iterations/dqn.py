
import torch
import torch.nn as nn
import torch.optim as optim

BATCH_SIZE, GAMMA, TAU, OBS, ACTIONS = 32, 0.99, 0.005, 8, 4
device = torch.device("cpu")


class DQN(nn.Module):
    def __init__(self, n_observations, n_actions):
        super().__init__()
        self.layer1 = nn.Linear(n_observations, 64)
        self.layer2 = nn.Linear(64, 64)
        self.layer3 = nn.Linear(64, n_actions)

    def forward(self, x):
        return self.layer3(torch.relu(self.layer2(torch.relu(self.layer1(x)))))


class Replay:
    def sample(self, size):
        return (
            torch.randn(size, OBS),
            torch.randint(0, ACTIONS, (size, 1)),
            torch.randn(size),
            torch.randn(size, OBS),
        )


policy_net = DQN(OBS, ACTIONS).to(device)
target_net = DQN(OBS, ACTIONS).to(device)
target_net.load_state_dict(policy_net.state_dict())
optimizer = optim.AdamW(policy_net.parameters(), lr=1e-4, amsgrad=True)
memory = Replay()


def optimize_model():
    states, actions, rewards, next_states = memory.sample(BATCH_SIZE)
    state_action_values = policy_net(states).gather(1, actions)
    with torch.no_grad():
        next_state_values = target_net(next_states).max(1).values
    expected = (next_state_values * GAMMA) + rewards
    criterion = nn.SmoothL1Loss()
    loss = criterion(state_action_values, expected.unsqueeze(1))
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_value_(policy_net.parameters(), 100)
    optimizer.step()


for step in range(5):
    optimize_model()
    target_state = target_net.state_dict()
    policy_state = policy_net.state_dict()
    for key in policy_state:
        target_state[key] = policy_state[key] * TAU + target_state[key] * (1 - TAU)
    target_net.load_state_dict(target_state)
