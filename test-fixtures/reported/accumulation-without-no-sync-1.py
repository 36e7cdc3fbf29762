# K − 1 of K reductions are wasted.
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader


def main(rank, dataset, accum_steps=8):
    model = DDP(nn.TransformerEncoderLayer(512, 8).to(rank), device_ids=[rank])
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    dataloader = DataLoader(dataset, batch_size=4, sampler=torch.utils.data.DistributedSampler(dataset))
    for data, label in dataloader:
        optimizer.zero_grad()
        for micro, target in zip(data.chunk(accum_steps), label.chunk(accum_steps)):
            prediction = model(micro.to(rank))
            loss = nn.functional.mse_loss(prediction, target.to(rank)) / accum_steps
            loss.backward()  # expect: accumulation-without-no-sync
        optimizer.step()
