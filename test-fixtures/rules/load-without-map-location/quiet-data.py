"""What is loaded is no state of a model: there is nothing that would be there twice."""
import torch
from torch import nn
from torch.utils.data import Dataset

model = nn.Linear(128, 10).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)


class Features(Dataset):
    def __init__(self, path):
        self.data, self.labels = torch.load(path)

    def __len__(self):
        return len(self.data)

    def __getitem__(self, index):
        return torch.load(f"features/{index}.pt"), self.labels[index]


vocabulary = torch.load("vocabulary.pt")
vectors = torch.load("vectors.pt")
model.weight.data.copy_(vectors[: len(vocabulary)])
whole = torch.load("whole-model.pt", weights_only=False)
print(whole(torch.randn(1, 128)))
with torch.device("meta"):
    empty = nn.Linear(128, 10)
empty.load_state_dict(torch.load("last.pt"), assign=True)


def test_round_trip(tmp_path):
    torch.save(model.state_dict(), tmp_path / "model.pt")
    model.load_state_dict(torch.load(tmp_path / "model.pt"))
