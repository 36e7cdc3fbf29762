# Mean loss and accuracy of an epoch, divided by its length and added up: "a graph that gets bigger every time".
# https://github.com/jostmey/NakedAttention/issues/1
import torch
from torch.utils.data import DataLoader


def train(model, loader_train: DataLoader, loader_test: DataLoader, epochs: int):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = torch.nn.DataParallel(model).to(device)
    loss = torch.nn.BCEWithLogitsLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
    for epoch in range(epochs):
        e_train, a_train = 0.0, 0.0
        model.train()
        for xs_batch, ys_batch in loader_train:
            xs_batch, ys_batch = xs_batch.to(device), ys_batch.to(device)
            ls_batch = model(xs_batch)
            e_batch = loss(ls_batch, ys_batch)
            a_batch = ((ls_batch > 0) == (ys_batch > 0.5)).float().mean()
            optimizer.zero_grad()
            e_batch.backward()
            optimizer.step()
            e_train += e_batch / len(loader_train)  # expect: graph-retained-after-backward
            a_train += a_batch / len(loader_train)
        e_test = 0.0
        model.eval()
        with torch.no_grad():
            for xs_batch, ys_batch in loader_test:
                e_test += loss(model(xs_batch.to(device)), ys_batch.to(device)) / len(loader_test)
        print(epoch, float(e_train), float(a_train), float(e_test))
