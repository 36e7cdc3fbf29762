import torch
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __init__(self, images, labels):
        self.images = images
        self.labels = labels

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        image = torch.from_numpy(self.images[index]).cuda()  # expect: cuda-in-dataset
        return image, self.labels[index]


def loaders(images, labels):
    return DataLoader(Images(images, labels), batch_size=32, num_workers=4)
