# The file makes data sets and trains nothing: whoever imports it sets the seed.
from torch.utils.data import DataLoader, random_split


def loaders(dataset):
    train_set, val_set = random_split(dataset, [0.9, 0.1])
    return DataLoader(train_set, batch_size=32, shuffle=True), DataLoader(val_set, batch_size=32)
