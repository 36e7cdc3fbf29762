import torch

x = torch.linspace(-1, 1, 100)
y = 3 * x + 1
w = torch.randn(1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)

for _ in range(100):
    loss = (w * x + b - y).pow(2).mean()
    loss.backward()
    w = w - 0.1 * w.grad  # expect: update-outside-no-grad
    b -= 0.1 * b.grad  # expect: update-outside-no-grad
