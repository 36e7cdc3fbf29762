# "Loop through a large dataset with predict and not run out of memory": the output is a dictionary.
# https://github.com/sktime/pytorch-forecasting/issues/322
import torch
from torch import nn
from tqdm import tqdm


class Forecaster(nn.Module):
    def __init__(self, hidden=160, horizon=24):
        super().__init__()
        self.encoder = nn.LSTM(8, hidden, batch_first=True)
        self.head = nn.Linear(hidden, horizon * 7)

    def forward(self, x):
        encoded, _ = self.encoder(x["encoder_cont"])
        return {"prediction": self.head(encoded[:, -1]), "encoder": encoded}

    def predict(self, dataloader, device="cuda", show_progress_bar=False):
        self.to(device)
        self.eval()
        output = []
        progress_bar = tqdm(desc="Predict", total=len(dataloader), disable=not show_progress_bar)
        with torch.no_grad():
            for x, _ in dataloader:
                x = {name: value.to(device) for name, value in x.items()}
                out = self(x)
                out = out["prediction"]
                output.append(out)  # expect: outputs-kept-on-device
                progress_bar.update()
        output = torch.cat(output, dim=0)
        return output
