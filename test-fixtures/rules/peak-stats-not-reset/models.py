from torch import cuda, nn, randn

models = {"small": nn.Linear(8, 8), "large": nn.Linear(8, 4096)}
peaks = {}

for name, model in models.items():
    model = model.cuda()
    for step in range(10):
        model(randn(4, 8, device="cuda")).sum().backward()
    peaks[name] = cuda.max_memory_reserved()  # expect: peak-stats-not-reset
