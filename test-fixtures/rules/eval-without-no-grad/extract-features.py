# Feature extraction with a pretrained backbone; the vectors leave for the CPU, the graph of the batch is built anyway.
import numpy as np
import torch
from torchvision.models import ResNet50_Weights, resnet50

backbone = resnet50(weights=ResNet50_Weights.DEFAULT)
backbone.fc = torch.nn.Identity()
backbone.cuda().eval()
images = torch.rand(640, 3, 224, 224).split(64)
features = []

index = 0
while index < len(images):
    vectors = backbone(images[index].cuda())  # expect: eval-without-no-grad
    features.append(vectors.detach().cpu().numpy())
    index += 1

np.save("features.npy", np.concatenate(features))
