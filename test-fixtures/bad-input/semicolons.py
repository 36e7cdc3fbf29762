import torch; from torch import nn; m = nn.Linear(1, 1); torch.no_grad(); m.eval()
for x in loader: torch.cuda.empty_cache(); m(x)
if True: torch.no_grad()
else: torch.no_grad()
