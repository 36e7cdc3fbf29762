# A running average over terminal and other states, made of tensors: its history grows with each iteration.
# https://github.com/alexhernandezgarcia/gflownet/pull/133
import torch
from torch import nn


class Agent:
    def __init__(self, env, device="cuda", ema_alpha=0.5):
        self.env = env
        self.policy = nn.Sequential(nn.Linear(32, 256), nn.LeakyReLU(), nn.Linear(256, 8)).to(device)
        self.opt = torch.optim.Adam(self.policy.parameters(), lr=1e-4)
        self.ema_alpha = ema_alpha
        self.loss_term_ema = None
        self.loss_flow_ema = None
        self.n_train_steps = 5000

    def flowmatch_loss(self, batch):
        states, done = batch
        flows = self.policy(states).logsumexp(1)
        term_loss = flows[done].pow(2).mean()
        flow_loss = flows[~done].pow(2).mean()
        return term_loss + flow_loss, term_loss, flow_loss

    def train(self):
        for it in range(self.n_train_steps):
            batch = self.env.sample()
            loss, term_loss, flow_loss = self.flowmatch_loss(batch)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            if self.loss_term_ema is None:
                self.loss_term_ema = term_loss.item()
                self.loss_flow_ema = flow_loss.item()
            else:
                self.loss_term_ema = self.ema_alpha * term_loss + (1.0 - self.ema_alpha) * self.loss_term_ema  # expect: graph-retained-after-backward
                self.loss_flow_ema = self.ema_alpha * flow_loss + (1.0 - self.ema_alpha) * self.loss_flow_ema  # expect: graph-retained-after-backward
