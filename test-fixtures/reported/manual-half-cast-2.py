# Form of https://github.com/afiaka87/glide-finetune/issues/5: NaN after the first step of AdamW on weights in half precision.
import torch
from torch import nn


def finetune(dataloader, learning_rate=1e-5):
    glide_model = nn.Transformer(d_model=512, nhead=8).cuda()
    glide_model = glide_model.to(torch.float16)  # expect: manual-half-cast
    optimizer = torch.optim.AdamW(glide_model.parameters(), lr=learning_rate)
    for tokens, noise in dataloader:
        prediction = glide_model(tokens.cuda().half(), noise.cuda().half())
        loss = nn.functional.mse_loss(prediction, noise.cuda().half())
        loss.backward()
        optimizer.step()
        glide_model.zero_grad()
