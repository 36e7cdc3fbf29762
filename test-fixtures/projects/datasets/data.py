# Datasets that the training script imports.
import torch
from torch.utils.data import Dataset

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Images(Dataset):
    def __init__(self, images):
        self.images = images

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return torch.from_numpy(self.images[index]).cuda()


class Texts(Dataset):
    def __init__(self, texts):
        self.texts = texts

    def __getitem__(self, index):
        return self.encode(self.texts[index])

    def encode(self, text):
        return torch.tensor([ord(one) for one in text]).to(DEVICE)


class Chosen(Dataset):
    def __init__(self, series, device="cuda"):
        self.series = series
        self.device = device

    def __getitem__(self, index):
        return self.series[index].to(self.device)


class OnCpu(Dataset):
    def __init__(self, series):
        self.series = series

    def __getitem__(self, index):
        return self.series[index].cpu()


if __name__ == "__main__":
    print(Chosen([], "cuda")[0])
