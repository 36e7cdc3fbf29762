"""A look at the shape first, then the pass: the pass is what counts."""
import torch
from torchvision.models import resnet18

model = resnet18().cuda()
model.eval()
out = model(torch.randn(1, 3, 224, 224).cuda())
print(out.shape)
hits = 0
for images, labels in test_loader:
    scores = model(images.cuda())  # expect: eval-without-no-grad
    hits += (scores.argmax(1).cpu() == labels).sum().item()
print(hits)
