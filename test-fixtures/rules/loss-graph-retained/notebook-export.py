# %% [markdown]
# Text classification with a bag of embeddings

# %%
import torch
from torch.nn import CrossEntropyLoss, EmbeddingBag, Linear, Sequential
from torch.optim import SGD

# %%
net = Sequential(EmbeddingBag(20_000, 128), Linear(128, 4)).cuda()
lossFn = CrossEntropyLoss()
opt = SGD(net.parameters(), lr=5.0)
trainData = [(torch.randint(20_000, (64, 40)), torch.randint(4, (64,))) for _ in range(200)]
testData = trainData[:20]

# %%
for text, label in trainData:
    opt.zero_grad()
    l = lossFn(net(text.cuda()), label.cuda())
    l.backward()
    opt.step()

# %%
net.eval()
correct, lossSum, i = 0, 0.0, 0
while i < len(testData):
    text, label = testData[i]
    scores = net(text.cuda())  # expect: eval-without-no-grad
    lossSum = lossSum + lossFn(scores, label.cuda())  # expect: loss-graph-retained
    correct += (scores.argmax(1) == label.cuda()).sum()
    i += 1
print(correct / (64 * len(testData)), lossSum / len(testData))
