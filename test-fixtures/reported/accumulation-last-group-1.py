# 15 batches and two accumulation steps: "the parameters are not updated for the last batch".
import torch
from torch import nn

accumulation_steps = 2
training_set = [(torch.randn(64, 20), torch.randint(3, (64,))) for _ in range(15)]
model = nn.Sequential(nn.Linear(20, 40), nn.ReLU(), nn.Linear(40, 3))
loss_function = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

model.zero_grad()
for i, (inputs, labels) in enumerate(training_set):
    predictions = model(inputs)
    loss = loss_function(predictions, labels)
    loss = loss / accumulation_steps
    loss.backward()
    if (i + 1) % accumulation_steps == 0:  # expect: accumulation-last-group
        optimizer.step()
        model.zero_grad()
