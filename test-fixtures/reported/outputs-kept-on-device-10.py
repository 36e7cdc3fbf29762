# A process predicts a whole data set: inputs and outputs of each batch wait on the GPU for the end.
# https://github.com/SPOClab-ca/dn3/issues/38
import torch
import torch.nn as nn


class BaseProcess:
    def __init__(self, classifier: nn.Module):
        self.classifier = classifier.to("cuda")

    def train(self, mode=True):
        self.classifier.train(mode)

    def forward(self, inputs):
        return self.classifier(inputs)

    def predict(self, dataset):
        self.train(False)
        inputs_, outputs_ = [], []
        with torch.no_grad():
            for batch in dataset:
                x = batch[0].to("cuda")
                outputs = self.forward(x)
                inputs_.append(batch[1])
                outputs_.append(outputs)  # expect: outputs-kept-on-device
        return torch.cat(inputs_), torch.cat(outputs_).cpu()


class Classifier(nn.Module):
    def __init__(self, channels, targets):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv1d(channels, 128, 9), nn.ReLU(), nn.Conv1d(128, targets, 1))

    def forward(self, x):
        return self.layers(x)


def main(loader):
    process = BaseProcess(Classifier(20, 64))
    return process.predict(loader)
