# Labels and scores of a test set grow by torch.cat; the tensor began empty.
# Form of https://github.com/pytorch/pytorch/issues/13613, without the move to the CPU that was there
import torch
from torch.utils.data import DataLoader
from torchvision import datasets, models, transforms

device = torch.device("cuda")
model = models.resnet50(weights="DEFAULT").to(device)
model.eval()
testset = datasets.ImageFolder("test", transforms.ToTensor())
y_scores = torch.tensor([], device=device)
y_true = torch.zeros(0, dtype=torch.long, device=device)
for images, labels in DataLoader(testset, batch_size=32):
    with torch.no_grad():
        scores = model(images.to(device))
    y_scores = torch.cat((y_scores, scores))  # expect: cat-in-loop
    y_true = torch.cat([y_true, labels.to(device)])
print((y_scores.argmax(1) == y_true).float().mean().item())
