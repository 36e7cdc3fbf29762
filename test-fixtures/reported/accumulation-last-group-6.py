# "Three images, groups of four: the whole epoch is not trained at all", with the division in place.
# https://github.com/WalkingMeatAxolotl/AnimaLoraStudio/pull/305
import torch
from torch import nn

grad_accum = 4
epochs = 10
images = [(torch.randn(4, 64, 64), torch.randn(77, 768)) for _ in range(30)]
loader = torch.utils.data.DataLoader(images, batch_size=1, shuffle=True)
lora = nn.Sequential(nn.Linear(768, 16, bias=False), nn.Linear(16, 768, bias=False)).cuda()
optimizer = torch.optim.AdamW(lora.parameters(), lr=1e-4)

for epoch in range(epochs):
    for batch_idx, (latents, text) in enumerate(loader):
        predicted = lora(text.cuda())
        loss = nn.functional.mse_loss(predicted, text.cuda()) / grad_accum
        loss.backward()
        if (batch_idx + 1) % grad_accum == 0:  # expect: accumulation-last-group
            optimizer.step()
            optimizer.zero_grad()
