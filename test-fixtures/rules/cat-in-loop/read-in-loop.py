"""What was gathered so far is used in each iteration, as one tensor: a list to be joined after the loop would not do."""
import torch
from torch import nn
from torch.utils.data import DataLoader

encoder = nn.Linear(32, 16).cuda()
loader = DataLoader(torch.load("data.pt", map_location="cpu"), batch_size=64)

bank = torch.zeros(0, 16).cuda()
with torch.no_grad():
    for x in loader:
        z = encoder(x.cuda())
        nearest = torch.cdist(z, bank).argsort(1)[:, :5]
        print(nearest.float().mean().item())
        bank = torch.cat([bank, z])

found = torch.zeros(0, 16).cuda()
with torch.no_grad():
    for x in loader:
        z = encoder(x.cuda())
        if len(found) > 0:
            print(found.shape, len(found))
        found = torch.cat([found, z])  # expect: cat-in-loop
print(found.mean())
