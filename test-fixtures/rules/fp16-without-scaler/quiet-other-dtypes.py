import torch
from torch import nn

model = nn.Linear(128, 10).cuda()
encoder = nn.Linear(128, 128).cuda().requires_grad_(False)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = [(torch.randn(32, 128), torch.randint(10, (32,))) for _ in range(100)]


def train(dtype, device):
    for x, y in loader:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = nn.functional.cross_entropy(model(x.cuda()), y.cuda())
        with torch.autocast("cuda", dtype=dtype):
            loss = loss + nn.functional.cross_entropy(model(x.cuda()), y.cuda())
        with torch.autocast(device):
            loss = loss + nn.functional.cross_entropy(model(x.cuda()), y.cuda())
        with torch.autocast("cuda"):
            features = encoder(x.cuda())
        with torch.autocast("cuda", enabled=False):
            loss = loss + nn.functional.cross_entropy(model(features), y.cuda())
        with torch.no_grad(), torch.autocast("cuda"):
            print(model(x.cuda()).mean())
        loss.backward()
        optimizer.step()


def evaluate():
    model.eval()
    with torch.no_grad(), torch.autocast("cuda", dtype=torch.float16):
        for x, y in loader:
            print(model(x.cuda()).mean())
