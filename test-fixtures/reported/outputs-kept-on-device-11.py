# Scores of a team recommender over all experts: moving the predictions to the CPU before they are saved ends the failure.
# https://github.com/fani-lab/OpeNTF/issues/320
import torch
import torch.nn as nn
from torch.utils.data import DataLoader


class Fnn(nn.Module):
    def __init__(self, skills, experts):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(skills, 128), nn.LeakyReLU(), nn.Linear(128, experts))

    def forward(self, x):
        return self.layers(x)

    def test(self, model_path, test_set, folds):
        test_dl = DataLoader(test_set, batch_size=1000)
        for fold in range(folds):
            self.load_state_dict(torch.load(f"{model_path}/f{fold}.pt", map_location="cuda"))
            self.to("cuda")
            self.eval()
            preds = []
            with torch.no_grad():
                for X, y in test_dl:
                    scores = torch.sigmoid(self(X.squeeze(1).to("cuda")))
                    preds.append(scores)  # expect: outputs-kept-on-device
            torch.save({"y_pred": torch.vstack(preds)}, f"{model_path}/f{fold}.test.pred")
