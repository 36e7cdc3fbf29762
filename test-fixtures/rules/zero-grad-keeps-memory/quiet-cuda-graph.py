import torch
from torch import nn

model = nn.Linear(8, 8).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
static_input = torch.randn(4, 8, device="cuda")
graph = torch.cuda.CUDAGraph()

optimizer.zero_grad(set_to_none=True)
with torch.cuda.graph(graph):
    model(static_input).mean().backward()

for step in range(10):
    optimizer.zero_grad(set_to_none=False)
    graph.replay()
    optimizer.step()
