# The scores keep their graphs. What is kept of the sorted pairs are the names that they stand under.
import torch
from torch import nn

model = nn.Bilinear(64, 64, 1).cuda()


def recommend(users, items):
    favourites, ranking = {}, []
    for name, user in users:
        scores = {}
        for title, item in items:
            scores[title] = model(user, item)  # expect: loss-graph-retained
        best = []
        for title, score in sorted(scores.items(), key=lambda pair: pair[1], reverse=True):
            best.append(title)
        for title, score in list(reversed(list(scores.items()))):
            ranking.append(title)
        favourites[name] = best
    print(favourites, ranking)
