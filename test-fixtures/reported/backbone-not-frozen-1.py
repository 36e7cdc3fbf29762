# A backbone that is not frozen while only the head is trained.
import torch
import torchvision


def train(loader):
    model = torchvision.models.resnet50(weights="DEFAULT").cuda()
    model.fc = torch.nn.Linear(2048, 10).cuda()
    optimizer = torch.optim.SGD(model.fc.parameters(), lr=0.1)  # expect: backbone-not-frozen
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x.cuda()), y.cuda()).backward()
        optimizer.step()
