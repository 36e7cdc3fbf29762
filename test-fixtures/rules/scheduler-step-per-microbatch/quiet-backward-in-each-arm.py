"""Each arm of the guard has a backward; what belongs to the update stands in one of them."""
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

model = DistributedDataParallel(nn.Linear(16, 4).cuda())
optimizer = torch.optim.AdamW(model.parameters())
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-3, total_steps=1000)
scaler = torch.amp.GradScaler("cuda")
steps = 4


def train(loader):
    for index, (x, y) in enumerate(loader, 1):
        with torch.autocast("cuda", dtype=torch.float16):
            loss = nn.functional.cross_entropy(model(x.cuda()), y.cuda()) / steps
        if index % steps == 0 or index == len(loader):
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scheduler.step()
            scaler.step(optimizer)
            optimizer.zero_grad()
            scaler.update()
        else:
            with model.no_sync():
                scaler.scale(loss).backward()
