"""The loss holds derivatives of the network: the rounds that only measure it need the graph as well."""
import torch
from torch import nn

model = nn.Sequential(nn.Linear(1, 50), nn.Tanh(), nn.Linear(50, 1)).cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
criterion = nn.MSELoss()


def derivative(outputs, inputs):
    return torch.autograd.grad(outputs, inputs, grad_outputs=torch.ones_like(outputs), create_graph=True)


def residual(points):
    points.requires_grad = True
    height = model(points)
    slope = derivative(height, points)[0]
    return derivative(slope, points)[0] + height


def run_epoch(loader, mode):
    if mode == "test":
        model.eval()
    for points, (edge, wanted) in loader:
        equation = criterion(residual(points), torch.zeros_like(points))
        loss = equation + criterion(model(edge), wanted)
        optimizer.zero_grad()
        if mode == "train":
            loss.backward()
            optimizer.step()
        else:
            print(loss.item())


def run_phases(loaders):
    for phase in ["train", "test"]:
        for points, (edge, wanted) in loaders[phase]:
            loss = criterion(residual(points), torch.zeros_like(points)) + criterion(model(edge), wanted)
            if phase == "train":
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            else:
                print(loss.item())


for epoch in range(1000):
    run_epoch(train_loader, "train")
    run_epoch(test_loader, "test")
run_phases(loaders)
