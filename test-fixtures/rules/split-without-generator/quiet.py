# A generator, a state, no shuffling; whoever calls `train_test_split` of one's own.
import torch
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, random_split

shuffled = torch.Generator().manual_seed(7)


def main(dataset, files):
    train_set, _ = random_split(dataset, [0.9, 0.1], generator=shuffled)
    random_split(dataset, [0.9, 0.1], shuffled)
    train_test_split(files, random_state=3)
    train_test_split(files, shuffle=False)
    model = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in DataLoader(train_set, batch_size=32, shuffle=True):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()


if __name__ == "__main__":
    main(torch.utils.data.TensorDataset(torch.randn(1000, 8), torch.randn(1000, 1)), list(range(1000)))
