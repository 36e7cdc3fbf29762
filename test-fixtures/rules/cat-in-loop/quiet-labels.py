"""Labels and predicted classes are a number a sample."""
import torch
from torchvision.models import resnet18

model = resnet18().cuda().eval()
loader = torch.utils.data.DataLoader([(torch.randn(3, 224, 224), 0)], batch_size=32)
y = torch.tensor([], dtype=torch.long, device="cuda")
predicted = torch.tensor([], dtype=torch.long, device="cuda")

with torch.no_grad():
    for batch in loader:
        val_images, val_labels = batch[0].cuda(), batch[1].cuda()
        outputs = model(val_images)
        predicted = torch.cat([predicted, outputs.argmax(dim=1)], dim=0)
        y = torch.cat([y, val_labels], dim=0)

print((predicted == y).float().mean().item())


def with_indices(model, loader, device):
    y, seen = torch.tensor([]).to(device), torch.tensor([]).to(device)
    with torch.no_grad():
        for qx, qy in loader:
            scores = model(qx.to(device))
            best, index = torch.max(scores.data, 1)
            y = torch.cat((y, qy.to(device)))
            seen = torch.cat((seen, index), dim=0)
    return y, seen
