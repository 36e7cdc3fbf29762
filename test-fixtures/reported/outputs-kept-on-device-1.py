# "During inference I kept holding the model's result": images that a network made, all on the GPU until the end.
# https://github.com/pytorch/pytorch/issues/16417
import torch
from torch import nn

net = nn.Sequential(nn.Conv2d(3, 64, 3, padding=1), nn.ReLU(), nn.Conv2d(64, 3, 3, padding=1))
net = net.to("cuda:0")
dataloader = torch.utils.data.DataLoader([torch.randn(3, 512, 512) for _ in range(1000)], batch_size=4)

predictions = []
net.eval()
with torch.no_grad():
    for batch in dataloader:
        p = net(batch.to(torch.device("cuda:0")))
        predictions.append(p)  # expect: outputs-kept-on-device
result = torch.cat(predictions, 0)
