# The value of each epoch is summed as a tensor, without a backward on it (a label model trained on several losses).
import torch
from torch import nn, optim


class LabelModel(nn.Module):
    def __init__(self, functions, classes):
        super().__init__()
        self.accuracy = nn.Parameter(torch.randn(functions, classes))
        self.balance = nn.Parameter(torch.zeros(classes))

    def forward(self, votes):
        return votes.float() @ self.accuracy + self.balance


def estimate(model, batches, epochs=5):
    optimizer = optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(epochs):
        running_loss = 0.0
        running_entropy = 0.0
        for votes in batches:
            optimizer.zero_grad()
            loss = -torch.logsumexp(model(votes), dim=1).mean()
            loss.backward()
            optimizer.step()
            running_loss += loss  # expect: graph-retained-after-backward

            p = model(votes).softmax(dim=1)
            entropy = -(p * p.log()).sum(dim=1).mean()
            running_entropy = running_entropy + entropy  # expect: loss-graph-retained
        print(epoch, float(running_loss) / len(batches), float(running_entropy) / len(batches))


if __name__ == "__main__":
    estimate(LabelModel(12, 3), [torch.randint(0, 2, (64, 12)) for _ in range(30)])
