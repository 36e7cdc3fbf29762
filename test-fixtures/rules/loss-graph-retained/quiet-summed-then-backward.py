# Losses of several tasks, time steps and scales are added up first and go backward together.
import torch
import torch.nn as nn
import torch.nn.functional as F


class PyramidLoss(nn.Module):
    def __init__(self, scales=(1, 2, 4)):
        super().__init__()
        self.scales = scales

    def forward(self, prediction, target):
        loss = 0
        terms = []
        for scale in self.scales:
            p = F.avg_pool2d(prediction, scale)
            t = F.avg_pool2d(target, scale)
            loss = loss + F.l1_loss(p, t)
            terms.append(F.mse_loss(p, t))
        return loss + torch.stack(terms).mean()


class Decoder(nn.Module):
    def __init__(self, vocabulary, width=256):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.cell = nn.GRUCell(width, width)
        self.out = nn.Linear(width, vocabulary)

    def forward(self, tokens, h):
        outputs = []
        for t in range(tokens.size(1)):
            h = self.cell(self.embed(tokens[:, t]), h)
            outputs.append(self.out(h))
        return torch.stack(outputs, dim=1)


def sequence_loss(decoder, tokens, h):
    total = 0.0
    logits = decoder(tokens, h)
    for t in range(tokens.size(1) - 1):
        total += F.cross_entropy(logits[:, t], tokens[:, t + 1])
    return total / (tokens.size(1) - 1)


def train(decoder, heads, image_net, loader, epochs):
    params = list(decoder.parameters()) + list(image_net.parameters()) + list(heads.parameters())
    optimizer = torch.optim.AdamW(params)
    pyramid = PyramidLoss()
    for epoch in range(epochs):
        epoch_loss = 0.0
        for image, target, tokens, h in loader:
            losses = {}
            features = image_net(image)
            for name, head in heads.items():
                losses[name] = head(features).pow(2).mean()
            losses["image"] = pyramid(features, target)
            losses["text"] = sequence_loss(decoder, tokens, h)
            loss = sum(losses.values())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            epoch_loss += loss.item()
        print(epoch, epoch_loss / len(loader))


def meta_update(model, tasks, optimizer, inner_steps=3):
    meta_loss = 0
    for support, query in tasks:
        fast = dict(model.named_parameters())
        for _ in range(inner_steps):
            inner = torch.func.functional_call(model, fast, (support,)).pow(2).mean()
            grads = torch.autograd.grad(inner, list(fast.values()), create_graph=True)
            fast = {name: p - 0.01 * g for (name, p), g in zip(fast.items(), grads)}
        meta_loss += torch.func.functional_call(model, fast, (query,)).pow(2).mean()
    optimizer.zero_grad()
    meta_loss.backward()
    optimizer.step()
