import torch
from accelerate import Accelerator
from diffusers.optimization import get_scheduler
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(gradient_accumulation_steps=4)
model = nn.Linear(128, 10)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
loader = DataLoader(TensorDataset(torch.randn(4096, 128), torch.randint(10, (4096,))), batch_size=16)
lr_scheduler = get_scheduler("cosine", optimizer, num_warmup_steps=10, num_training_steps=64 * 3)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)

for epoch in range(3):
    for inputs, targets in loader:
        with accelerator.accumulate(model):
            loss = nn.functional.cross_entropy(model(inputs), targets)
            accelerator.backward(loss)
            optimizer.step()
            lr_scheduler.step()  # expect: scheduler-step-per-microbatch
            optimizer.zero_grad()
