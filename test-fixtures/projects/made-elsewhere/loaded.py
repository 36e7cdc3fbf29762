"""Models that go to the GPU, under the name that they came by and under another one."""
import torch
from architecture.network import model, wide

model = model.to("cuda")
model.load_state_dict(torch.load("model.pt", map_location="cpu"))
model.eval()
test_loader = [(torch.randn(8, 32), torch.randint(4, (8,))) for _ in range(1000)]

right = 0
for x, y in test_loader:
    scores = model(x.cuda())  # expect: eval-without-no-grad
    right += (scores.argmax(dim=1).cpu() == y).sum().item()
print(right / 8000)


def loss_of(batches):
    net = wide.cuda().eval()
    total = 0.0
    for x, y in batches:
        total += torch.nn.functional.cross_entropy(net(x.cuda()), y.cuda()).item()  # expect: eval-without-no-grad
    return total / len(batches)


print(loss_of(test_loader))
