# Inputs come out of a function for one image of a folder; two parts of the network are called in turn.
# https://github.com/Cadene/pretrained-models.pytorch/issues/37 (features of 1.5 million images)
import os

import torch
import torchvision.transforms as T
from PIL import Image

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
backbone = torch.hub.load("facebookresearch/dinov2", "dinov2_vitl14")
backbone.to(device)
backbone.eval()
transform = T.Compose([T.Resize(350), T.CenterCrop(350), T.ToTensor()])


def extract_features(filename):
    image = transform(Image.open(filename).convert("RGB"))[:3].unsqueeze(0)
    features = backbone(image.to(device))[0]  # expect: eval-without-no-grad
    return features.cpu().detach().numpy()


database = {}
for name in os.listdir("images"):
    database[name] = extract_features(os.path.join("images", name))
