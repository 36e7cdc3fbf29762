# A style-transfer closure that keeps content losses in a list.
import torch
import torchvision

vgg = torchvision.models.vgg19(weights="DEFAULT").features.cuda().eval()
for p in vgg.parameters():
    p.requires_grad_(False)


def transfer(content, steps=500):
    image = content.clone().requires_grad_(True)
    optimizer = torch.optim.Adam([image], lr=0.01)
    target = vgg(content).detach()
    history = []
    for step in range(steps):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(vgg(image), target)
        loss.backward()
        optimizer.step()
        history.append(loss)  # expect: graph-retained-after-backward
    return image, history
