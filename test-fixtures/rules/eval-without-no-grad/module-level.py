# %%
import torch as th
from torch import nn
from tqdm import tqdm

# %%
model = nn.Sequential(nn.Embedding(5000, 64), nn.Flatten(), nn.Linear(64 * 20, 2)).cuda()
optimizer = th.optim.Adam(model.parameters())
loss_fn = nn.CrossEntropyLoss()
train_batches = [(th.randint(5000, (32, 20)), th.randint(2, (32,))) for _ in range(100)]
valid_batches = train_batches[:10]

# %%
for epoch in range(2):
    model.train()
    for tokens, labels in tqdm(train_batches):
        optimizer.zero_grad()
        loss_fn(model(tokens.cuda()), labels.cuda()).backward()
        optimizer.step()

    model.train(False)
    losses = []
    for tokens, labels in tqdm(valid_batches):
        scores = model(tokens.cuda())  # expect: eval-without-no-grad
        losses.append(loss_fn(scores, labels.cuda()).item())
    print(epoch, sum(losses) / len(losses))
