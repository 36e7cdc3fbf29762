import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class Backbone(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, width, 3, 2, 1), nn.ReLU(), nn.Conv2d(width, width, 3, 2, 1))

    def forward(self, x):
        return self.features(x).mean((2, 3))


class MultiCrop(nn.Module):
    """Crops of one size go through the backbone together."""

    def __init__(self, backbone, head):
        super().__init__()
        self.backbone = backbone
        self.head = head

    def forward(self, x):
        if not isinstance(x, list):
            x = [x]
        ends = torch.cumsum(
            torch.unique_consecutive(torch.tensor([crop.shape[-1] for crop in x]), return_counts=True)[1], 0
        )
        start, output = 0, torch.empty(0)
        for end in ends:
            output = torch.cat((output, self.backbone(torch.cat(x[start:end]))))
            start = end
        return self.head(output)


class Crops(Dataset):
    def __len__(self):
        return 20

    def __getitem__(self, i):
        return [torch.rand(3, 32, 32) for _ in range(2)] + [torch.rand(3, 16, 16) for _ in range(4)], i


student = MultiCrop(Backbone(), nn.Linear(16, 20))
teacher = MultiCrop(Backbone(), nn.Linear(16, 20))
teacher.load_state_dict(student.state_dict())
for parameter in teacher.parameters():
    parameter.requires_grad = False

loader = DataLoader(Crops(), batch_size=4)
optimizer = torch.optim.SGD(student.parameters(), lr=0.1, momentum=0.9, foreach=True)

for epoch in range(2):
    for crops, _ in loader:
        wanted = teacher(crops[:2])
        given = student(crops)
        target = F.softmax(wanted / 0.04, dim=-1).detach().chunk(2)
        total = 0
        for i, q in enumerate(target):
            for j, v in enumerate((given / 0.1).chunk(6)):
                if j != i:
                    total += torch.sum(-q * F.log_softmax(v, dim=-1), dim=-1).mean()
        optimizer.zero_grad()
        total.backward()
        optimizer.step()
        with torch.no_grad():
            for q, k in zip(student.parameters(), teacher.parameters()):
                k.data.mul_(0.99).add_((1 - 0.99) * q.detach().data)
