# An inference script that switches gradients off once, at the top.
import sys

import torch
from PIL import Image
from torchvision import transforms
from torchvision.models import resnet18

torch.set_grad_enabled(False)

model = resnet18(weights="DEFAULT")
model.eval()
to_tensor = transforms.Compose([transforms.Resize(256), transforms.CenterCrop(224), transforms.ToTensor()])

for path in sys.argv[1:]:
    image = to_tensor(Image.open(path).convert("RGB")).unsqueeze(0)
    scores = model(image).softmax(-1)
    print(path, scores.argmax().item(), scores.max().item())
