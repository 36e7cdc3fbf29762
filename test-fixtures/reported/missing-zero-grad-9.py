# Policy optimisation under Accelerate: optimizer steps for each minibatch, and nothing is zeroed.
# Form of https://github.com/tatsu-lab/alpaca_farm/pull/58, with a loop of one's own in place of the framework's
import torch
import torch.nn as nn


class PPOTrainer:
    def __init__(self, policy: nn.Module, args):
        self.policy = policy.cuda()
        self.args = args
        self.optimizer = torch.optim.AdamW(policy.parameters(), lr=args.learning_rate)

    def compute_loss(self, rollouts):
        outputs = self.policy(rollouts["states"])
        ratio = torch.exp(outputs - rollouts["old_logprobs"])
        return -torch.min(ratio * rollouts["adv"], ratio.clamp(0.8, 1.2) * rollouts["adv"]).mean()

    def step_with_rollouts(self, rollouts_dataloader):
        stats = []
        for epoch in range(self.args.noptepochs):
            for batch_idx, rollouts in enumerate(rollouts_dataloader):
                loss = self.compute_loss(rollouts)
                loss.backward()
                torch.nn.utils.clip_grad_norm_(self.policy.parameters(), self.args.max_grad_norm)
                self.optimizer.step()  # expect: missing-zero-grad
                stats.append(loss.item())
        return stats
