import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Autoencoder(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(20, 5), nn.ReLU(), nn.Linear(5, 20))

    def training_step(self, batch, batch_idx):
        (x,) = batch
        return nn.functional.mse_loss(self.net(x), x)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())


class ManualGAN(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.g = nn.Linear(5, 20)
        self.d = nn.Linear(20, 1)

    def training_step(self, batch, batch_idx):
        (x,) = batch
        opt_g, opt_d = self.optimizers()
        fake = self.g(torch.randn(x.size(0), 5, device=self.device))
        d_loss = self.d(fake.detach()).mean() - self.d(x).mean()
        opt_d.zero_grad()
        self.manual_backward(d_loss)
        opt_d.step()
        g_loss = -self.d(fake).mean()
        opt_g.zero_grad()
        self.manual_backward(g_loss)
        opt_g.step()

    def configure_optimizers(self):
        return torch.optim.Adam(self.g.parameters()), torch.optim.Adam(self.d.parameters())


def with_fabric(loader):
    fabric = L.Fabric(accelerator="cuda", precision="bf16-mixed")
    fabric.launch()
    model = nn.Linear(20, 20)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = fabric.setup(model, optimizer)
    loader = fabric.setup_dataloaders(loader)
    for (x,) in loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), x)
        fabric.backward(loss)
        optimizer.step()


if __name__ == "__main__":
    data = DataLoader(TensorDataset(torch.randn(256, 20)), batch_size=16)
    L.Trainer(max_epochs=2).fit(Autoencoder(), data)
    with_fabric(data)
