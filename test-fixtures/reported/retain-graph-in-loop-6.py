# "During the last time we need to delete the graph": three backward calls in one iteration, each of them retains.
# https://github.com/GBLin5566/toward-controlled-generation-of-text-pytorch/issues/9
import torch
from torch import nn
from torch.nn import functional as F

encoder = nn.GRU(64, 128, batch_first=True).cuda()
decoder = nn.Linear(128, 2000).cuda()
discriminator = nn.Linear(128, 2).cuda()
vae_parameters = list(encoder.parameters()) + list(decoder.parameters())
vae_opt = torch.optim.Adam(vae_parameters, lr=1e-3)
discriminator_opt = torch.optim.Adam(discriminator.parameters(), lr=1e-3)


def train_discriminator(loader):
    for sentence, tokens, label in loader:
        sentence, tokens, label = sentence.cuda(), tokens.cuda(), label.cuda()
        vae_opt.zero_grad()
        hidden, last = encoder(sentence)
        reconstruction = F.cross_entropy(decoder(hidden).transpose(1, 2), tokens)
        reconstruction.backward(retain_graph=True)
        attribute = F.cross_entropy(discriminator(last[-1]), label)
        discriminator_opt.zero_grad()
        attribute.backward(retain_graph=True)  # expect: retain-graph-in-loop
        vae_opt.step()
        discriminator_opt.step()
