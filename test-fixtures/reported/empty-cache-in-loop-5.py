# "empty_cache() after every epoch instead of every batch": both passes of the starter kit had it per batch.
# https://github.com/batra-mlp-lab/visdial-challenge-starter-pytorch/pull/34
import itertools

import torch
from torch import nn, optim
from tqdm import tqdm


def main(config, train_dataloader, val_dataloader, gpu_ids):
    device = torch.device("cuda", gpu_ids[0]) if gpu_ids[0] >= 0 else torch.device("cpu")
    model = nn.Sequential(nn.Linear(2048, 512), nn.ReLU(), nn.Linear(512, 100)).to(device)
    if -1 not in gpu_ids:
        model = nn.DataParallel(model, gpu_ids)
    criterion = nn.CrossEntropyLoss()
    optimizer = optim.Adamax(model.parameters(), lr=config["initial_lr"])
    for epoch in range(config["num_epochs"]):
        combined_dataloader = itertools.chain(train_dataloader)
        for i, batch in enumerate(tqdm(combined_dataloader)):
            batch = {key: value.to(device) for key, value in batch.items()}
            optimizer.zero_grad()
            batch_loss = criterion(model(batch["img_feat"]), batch["ans_ind"])
            batch_loss.backward()
            optimizer.step()
            torch.cuda.empty_cache()  # expect: empty-cache-in-loop

        model.eval()
        for i, batch in enumerate(tqdm(val_dataloader)):
            batch = {key: value.to(device) for key, value in batch.items()}
            with torch.no_grad():
                output = model(batch["img_feat"])
            print(output.argmax(1).tolist())
        model.train()
        torch.cuda.empty_cache()
