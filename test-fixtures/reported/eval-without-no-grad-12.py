# "The first epoch training works fine, and when the validation comes the GPU memory explodes", all of it in the script.
# https://github.com/leftthomas/SRGAN/issues/43
import torch
from torch import nn, optim
from torch.utils.data import DataLoader
from tqdm import tqdm

if __name__ == "__main__":
    train_loader = DataLoader([(torch.randn(3, 22, 22), torch.randn(3, 88, 88))] * 64, batch_size=64, shuffle=True)
    val_loader = DataLoader([(torch.randn(3, 90, 90), torch.randn(3, 90, 90), torch.randn(3, 360, 360))] * 20)
    netG = nn.Sequential(nn.Conv2d(3, 64, 9, padding=4), nn.PReLU(), nn.Conv2d(64, 48, 3, padding=1), nn.PixelShuffle(4))
    generator_criterion = nn.MSELoss()
    if torch.cuda.is_available():
        netG.cuda()
        generator_criterion.cuda()
    optimizerG = optim.Adam(netG.parameters())
    results = {"psnr": []}

    for epoch in range(1, 101):
        train_bar = tqdm(train_loader)
        netG.train()
        for data, target in train_bar:
            fake_img = netG(data.cuda())
            optimizerG.zero_grad()
            g_loss = generator_criterion(fake_img, target.cuda())
            g_loss.backward()
            optimizerG.step()

        netG.eval()
        val_bar = tqdm(val_loader)
        valing_results = {"mse": 0, "batch_sizes": 0}
        for val_lr, val_hr_restore, val_hr in val_bar:
            batch_size = val_lr.size(0)
            valing_results["batch_sizes"] += batch_size
            lr = val_lr.cuda()
            hr = val_hr.cuda()
            sr = netG(lr)  # expect: eval-without-no-grad
            batch_mse = ((sr - hr) ** 2).data.mean()
            valing_results["mse"] += batch_mse.item() * batch_size
        results["psnr"].append(valing_results["mse"] / valing_results["batch_sizes"])
