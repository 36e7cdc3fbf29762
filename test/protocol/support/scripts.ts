/** Training scripts that the protocol tests open. */

/** One finding each of a rule with a safe fix, of one whose fix wants a look, and of evaluation with gradients on. */
export const script = `import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(1000, 1000)
        self.head = nn.Linear(1000, 10)

    def forward(self, x):
        return self.head(torch.relu(self.fc(x)))


def train(model, loader, optimizer):
    model.train()
    for data, target in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(data), target)
        loss.backward()
        optimizer.step()
        torch.cuda.empty_cache()


def evaluate(model, loader):
    model.eval()
    correct = 0
    for data, target in loader:
        output = model(data)
        correct += output.argmax(dim=1).eq(target).sum().item()
    return correct


def main(dataset):
    loader = DataLoader(dataset, batch_size=64)
    model = Net().cuda()
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(3):
        train(model, loader, optimizer)
        evaluate(model, loader)
`;

export const rulesInScript = ["empty-cache-in-loop", "eval-without-no-grad"];

export function uriOf(name: string): string {
  return `file:///project/${name}`;
}
