import torch
from torch import nn

model = nn.LSTM(input_size=40, hidden_size=128, num_layers=2, batch_first=True)
head = nn.Linear(128, 30)
optimizer = torch.optim.Adam(list(model.parameters()) + list(head.parameters()))
ctc = nn.CTCLoss(zero_infinity=True)


def batches(count):
    for _ in range(count):
        yield torch.randn(8, 100, 40), torch.randint(1, 30, (8, 20))


input_lengths = torch.full((8,), 100)
target_lengths = torch.full((8,), 20)

for features, targets in batches(1000):
    hidden, _ = model(features)
    log_probs = head(hidden).log_softmax(-1).transpose(0, 1)
    loss = ctc(log_probs, targets, input_lengths, target_lengths)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

model.eval()
head.eval()
average = 0.0
worst = {}
for step, (features, targets) in enumerate(batches(200)):
    hidden, _ = model(features)  # expect: eval-without-no-grad
    log_probs = head(hidden).log_softmax(-1).transpose(0, 1)
    loss = ctc(log_probs, targets, input_lengths, target_lengths)
    average = 0.99 * average + 0.01 * loss  # expect: loss-graph-retained
    worst[step] = loss  # expect: loss-graph-retained
print("smoothed loss", average, "worst batch", max(worst, key=worst.get))
