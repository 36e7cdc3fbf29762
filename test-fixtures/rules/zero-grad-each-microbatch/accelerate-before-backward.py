"""Under accumulate() the prepared zero_grad acts on the syncing micro-batch only, and here it comes before the backward."""
import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(gradient_accumulation_steps=4)
model = nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 10))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
data = TensorDataset(torch.randn(4096, 128), torch.randint(10, (4096,)))
loader = DataLoader(data, batch_size=16, shuffle=True)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
criterion = nn.CrossEntropyLoss()

for epoch in range(3):
    for inputs, targets in loader:
        with accelerator.accumulate(model):
            optimizer.zero_grad()  # expect: zero-grad-each-microbatch
            loss = criterion(model(inputs), targets)
            accelerator.backward(loss)
            optimizer.step()
    accelerator.print(epoch, loss.item())
