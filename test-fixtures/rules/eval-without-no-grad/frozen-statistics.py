# The discriminator's backward goes through the encoder, which is in eval mode for that step: no evaluation.
import torch
import torch.nn.functional as F


def adversarial(autoencoder, loader, lr):
    optimizer_e = torch.optim.Adam(autoencoder.encoder.parameters(), lr=lr)
    optimizer_d = torch.optim.Adam(autoencoder.discriminator.parameters(), lr=lr)
    for x, noise in loader:
        optimizer_e.zero_grad()
        loss = F.mse_loss(autoencoder.encoder(x), noise)
        loss.backward()
        optimizer_e.step()

        optimizer_d.zero_grad()
        autoencoder.encoder.eval()
        code = autoencoder.encoder(x)
        fake = autoencoder.discriminator(code)  # expect: generator-not-detached
        real = autoencoder.discriminator(noise)
        loss_fake = F.binary_cross_entropy_with_logits(fake, torch.zeros_like(fake))
        loss_real = F.binary_cross_entropy_with_logits(real, torch.ones_like(real))
        loss = loss_fake + loss_real
        loss.backward()
        optimizer_d.step()
        autoencoder.encoder.train()
