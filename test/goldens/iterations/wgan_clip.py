import torch
from torch import nn, optim
from torch.utils.data import DataLoader, Dataset

latent, clip_value, n_critic, batch_size = 16, 0.01, 3, 8
device = "cuda" if torch.cuda.is_available() else "cpu"


class Digits(Dataset):
    def __len__(self):
        return 96

    def __getitem__(self, idx):
        return torch.rand(1, 16, 16), 3


class Generator(nn.Module):
    def __init__(self):
        super().__init__()

        def block(fan_in, fan_out, normalize=True):
            layers = [nn.Linear(fan_in, fan_out)]
            if normalize:
                layers.append(nn.BatchNorm1d(fan_out, 0.8))
            layers.append(nn.LeakyReLU(0.2, inplace=True))
            return layers

        self.model = nn.Sequential(*block(latent, 32, normalize=False), *block(32, 64), nn.Linear(64, 256), nn.Tanh())

    def forward(self, z):
        return self.model(z).view(z.shape[0], 1, 16, 16)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = nn.Sequential(
            nn.Linear(256, 64), nn.LeakyReLU(0.2, inplace=True), nn.Linear(64, 32), nn.LeakyReLU(0.2, inplace=True), nn.Linear(32, 1)
        )

    def forward(self, img):
        return self.model(img.view(img.shape[0], -1))


def main():
    generator, critic = Generator().to(device), Critic().to(device)
    optimizer_G = optim.RMSprop(generator.parameters(), lr=5e-5)
    optimizer_D = optim.RMSprop(critic.parameters(), lr=5e-5)
    loader = DataLoader(Digits(), batch_size=batch_size, shuffle=True, drop_last=True)
    batches_done = 0
    for epoch in range(1):
        for i, (imgs, _) in enumerate(loader):
            real_imgs = imgs.to(device)
            optimizer_D.zero_grad()
            z = torch.randn(imgs.shape[0], latent, device=device)
            fake_imgs = generator(z).detach()
            loss_D = -torch.mean(critic(real_imgs)) + torch.mean(critic(fake_imgs))
            loss_D.backward()
            optimizer_D.step()
            for p in critic.parameters():
                p.data.clamp_(-clip_value, clip_value)

            if i % n_critic == 0:
                optimizer_G.zero_grad()
                gen_imgs = generator(z)
                loss_G = -torch.mean(critic(gen_imgs))
                loss_G.backward()
                optimizer_G.step()
                print(f"[{epoch}] [{batches_done % len(loader)}/{len(loader)}] D {loss_D.item()} G {loss_G.item()}")
            batches_done += 1


if __name__ == "__main__":
    main()
