# Dataset returns CUDA tensors with workers.
import torch
from torch.utils.data import DataLoader, Dataset

device = "cuda"


class Pairs(Dataset):
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return torch.as_tensor(self.x[i]).to(device), torch.as_tensor(self.y[i]).to(device)  # expect: cuda-in-dataset


def loader(x, y):
    return DataLoader(Pairs(x, y), batch_size=64, num_workers=8)
