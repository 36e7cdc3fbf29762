# https://github.com/pytorch/examples/issues/1078: every rank of a resumed run loads the snapshot to the first GPU.
import os
import torch
from torch.distributed import init_process_group
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

class Trainer:
    def __init__(self, model, train_data, optimizer, save_every, snapshot_path):
        self.local_rank = int(os.environ["LOCAL_RANK"])
        self.model = model.to(self.local_rank)
        self.train_data = train_data
        self.optimizer = optimizer
        self.epochs_run = 0
        self.snapshot_path = snapshot_path
        if os.path.exists(snapshot_path):
            print("Loading snapshot")
            self._load_snapshot(snapshot_path)
        self.model = DDP(self.model, device_ids=[self.local_rank])

    def _load_snapshot(self, snapshot_path):
        snapshot = torch.load(snapshot_path)  # expect: load-without-map-location
        self.model.load_state_dict(snapshot["MODEL_STATE"])
        self.epochs_run = snapshot["EPOCHS_RUN"]

    def _run_batch(self, source, targets):
        self.optimizer.zero_grad()
        output = self.model(source)
        loss = torch.nn.functional.cross_entropy(output, targets)
        loss.backward()
        self.optimizer.step()

    def train(self, max_epochs):
        for epoch in range(self.epochs_run, max_epochs):
            for source, targets in self.train_data:
                self._run_batch(source.to(self.local_rank), targets.to(self.local_rank))


def main():
    init_process_group(backend="nccl")
    model = torch.nn.Linear(20, 1)
    Trainer(model, DataLoader(torch.utils.data.TensorDataset(torch.randn(8, 20))), torch.optim.SGD(model.parameters(), lr=1e-3), 1, "snapshot.pt").train(10)
    
if __name__ == "__main__":
    main()
