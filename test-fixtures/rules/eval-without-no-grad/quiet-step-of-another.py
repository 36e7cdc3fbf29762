"""A function that trains one network on what another gives is no evaluation of the other."""
import torch
from torch import nn

encoder = nn.Linear(32, 8).cuda()
generator = nn.Linear(8, 32).cuda()
optimizer = torch.optim.Adam(generator.parameters())


def train_generator(graphs, distance):
    encoder.eval()
    generator.train()
    optimizer.zero_grad()
    codes = []
    for graph in graphs:
        codes.append(encoder(graph).view(-1))
    rebuilt = generator(torch.stack(codes))
    loss = 0
    for graph, made in zip(graphs, rebuilt):
        loss += distance(graph, made)
    loss = torch.tensor(loss, requires_grad=True)
    loss.backward()
    optimizer.step()


for batch in loader:
    train_generator(batch, distance)
