# A device that is chosen, an iterable dataset, helpers, parts of a dataset, and functions that make batches.
import functools

import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset, IterableDataset, Subset, random_split

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
WORKERS = 8


class Texts(Dataset):
    def __init__(self, texts):
        self.texts = texts

    def __getitem__(self, index):
        return self.encode(self.texts[index])

    def encode(self, text):
        return torch.tensor([ord(one) for one in text], device=device)  # expect: cuda-in-dataset


class Stream(IterableDataset):
    def __init__(self, files, device):
        self.files = files
        self.device = device

    def __iter__(self):
        for file in self.files:
            yield torch.load(file, map_location="cpu").to(self.device)  # expect: cuda-in-dataset


class Windows(Dataset):
    def __init__(self, series):
        self.series = series

    def __getitem__(self, index):
        return self.series[index : index + 64].to("cuda:0")  # expect: cuda-in-dataset


def collate(batch):
    texts, labels = zip(*batch)
    return pad_sequence(texts).to(device), torch.tensor(labels)  # expect: cuda-in-dataset


def collate_to(batch, scale):
    return torch.stack(batch).mul(scale).cuda()  # expect: cuda-in-dataset


class Loading:
    def join(self, batch):
        return torch.stack(batch).to(device="cuda", non_blocking=True)  # expect: cuda-in-dataset

    def loader(self, data):
        return DataLoader(data, num_workers=2, collate_fn=self.join)


def loaders(texts, files, series, pairs):
    windows = Windows(series)
    train, val = random_split(windows, [0.9, 0.1])
    return [
        DataLoader(Texts(texts), 32, num_workers=WORKERS),
        DataLoader(Stream(files, "cuda"), num_workers=2),
        DataLoader(train, batch_size=32, num_workers=4),
        DataLoader(val, batch_size=32, num_workers=4),
        DataLoader(Subset(windows, [1, 2, 3]), num_workers=1),
        DataLoader(pairs, num_workers=4, collate_fn=collate),
        DataLoader(pairs, num_workers=4, collate_fn=functools.partial(collate_to, scale=2)),
        DataLoader(pairs, num_workers=4, collate_fn=lambda batch: torch.stack(batch).cuda()),  # expect: cuda-in-dataset
    ]
