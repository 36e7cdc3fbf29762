import torch
from sklearn.model_selection import train_test_split


def main(features, labels):
    train_x, val_x, train_y, val_y = train_test_split(features, labels, test_size=0.1, stratify=labels)  # expect: split-without-generator
    model = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(10):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(train_x), train_y).backward()
        optimizer.step()
    with torch.no_grad():
        return torch.nn.functional.mse_loss(model(val_x), val_y).item()


if __name__ == "__main__":
    main(torch.randn(1000, 8), torch.randn(1000, 1))
