# Inference over a folder: eval() is called, memory still fills up.
import torch
from tqdm import tqdm
from torch.utils.data import DataLoader
from torchvision import datasets, models, transforms

data_loader = DataLoader(datasets.ImageFolder("pictures", transforms.ToTensor()), batch_size=1)
model = models.segmentation.deeplabv3_resnet101(weights="DEFAULT").to("cuda:0")
model.eval()
for batch_idx, data in enumerate(tqdm(data_loader)):
    image = data[0].to("cuda:0")
    output = model(image)["out"]  # expect: eval-without-no-grad
    mask = output.argmax(1).byte().cpu()
    torch.save(mask, f"mask{batch_idx}.pt")
