# The backward goes through the decoder into the encoder: what the encoder gave is freed by it as well.
import torch
from torch import nn

encoder = nn.Linear(64, 32).cuda()
decoder = nn.Linear(32, 64).cuda()
optimizer = torch.optim.SGD([*encoder.parameters(), *decoder.parameters()], 0.1)
codes = []
aside = []
for x in torch.utils.data.DataLoader(torch.randn(1000, 64), 16):
    code = encoder(x.cuda())
    loss = nn.functional.mse_loss(decoder(code), x.cuda())
    # Nothing walks this one.
    again = encoder(x.cuda())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    codes.append(code)  # expect: graph-retained-after-backward
    aside.append(again)  # expect: loss-graph-retained
