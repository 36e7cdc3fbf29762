# What a `forward` gathers in objects of its own ends with the call, and its callers decide whether there is a graph.
import torch
from torch import nn


class Hypothesis:
    def __init__(self, scores):
        self.scores = scores

    def extend(self, values):
        best = values[0]
        self.scores.append(best)
        return Hypothesis(self.scores[:])


class BeamDecoder(nn.Module):
    def __init__(self, vocabulary):
        super().__init__()
        self.decoder = nn.Linear(512, vocabulary)

    def forward(self, features, steps):
        hypotheses = [Hypothesis([])]
        for step in range(steps):
            following = []
            for hypothesis in hypotheses:
                values, _ = self.decoder(features[step]).topk(4)
                following.append(hypothesis.extend(values))
            hypotheses = following
        return hypotheses
