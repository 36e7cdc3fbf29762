# The samples of imported datasets are moved to the GPU by the workers that this script asks for.
import torch
from torch.utils.data import DataLoader, random_split

import data
from data import Chosen, Images, OnCpu


def loaders(images, texts, series):
    whole = data.Texts(texts)
    train, val = random_split(whole, [0.9, 0.1], generator=torch.Generator().manual_seed(0))
    return [
        DataLoader(Images(images), batch_size=32, num_workers=4),  # expect: cuda-in-dataset
        DataLoader(train, batch_size=32, num_workers=2),  # expect: cuda-in-dataset
        DataLoader(val, batch_size=32),
        DataLoader(Chosen(series, "cpu"), num_workers=4),
        DataLoader(OnCpu(series), num_workers=4),
    ]
