import engine
import engine.steps as S
import torch
from engine import run_evaluation, total_loss as criterion_of
from engine.losses import *

model = torch.nn.Linear(4, 4)
optimizer = torch.optim.AdamW(model.parameters())
kept, reported, dotted, starred, first = [], [], [], [], []

for batch in data:
    kept.append(criterion_of(model, batch))  # expect: loss-graph-retained
    reported.extend(run_evaluation(model, val_loader))
    dotted.append(engine.steps.forward_step(model, batch).sum())  # expect: loss-graph-retained
    starred.append(total_loss(model, batch))  # expect: loss-graph-retained
    first.append(S.both(model, batch)[0])  # expect: loss-graph-retained
