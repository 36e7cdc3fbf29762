# Made without gradients: nothing is kept but the numbers.
import torch
from torch import inference_mode, nn


@torch.no_grad()
def evaluate(model, loader, criterion):
    model.eval()
    total, outputs = 0.0, []
    for x, y in loader:
        out = model(x)
        total += criterion(out, y)
        outputs.append(out)
    return total / len(loader), torch.cat(outputs)


def embed(model, loader):
    model.eval()
    vectors = []
    with inference_mode():
        for x, _ in loader:
            vectors.append(model(x))
    return torch.cat(vectors)


def rollout(policy, env, steps):
    values, log_probs = [], []
    state = env.reset()
    for _ in range(steps):
        with torch.no_grad():
            distribution, value = policy(state)
            action = distribution.sample()
            log_prob = distribution.log_prob(action)
        values.append(value)
        log_probs.append(log_prob)
        state, _, _, _ = env.step(action)
    return torch.stack(values), torch.stack(log_probs)


def main():
    model = nn.Linear(8, 3)
    criterion = nn.CrossEntropyLoss()
    loader = [(torch.randn(4, 8), torch.randint(3, (4,))) for _ in range(10)]
    print(evaluate(model, loader, criterion)[0], embed(model, loader).shape)


if __name__ == "__main__":
    main()
