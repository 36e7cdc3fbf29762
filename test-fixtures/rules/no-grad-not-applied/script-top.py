# An inference script that believes it switched gradients off for the whole file.
import sys

import torch
from PIL import Image
from torchvision import models, transforms

torch.no_grad()  # expect: no-grad-not-applied
net = models.resnet50(weights="DEFAULT").cuda()
net.eval()
preprocess = transforms.Compose([transforms.Resize((224, 224)), transforms.ToTensor()])

for path in sys.argv[1:]:
    image = preprocess(Image.open(path)).unsqueeze(0).cuda()
    prediction = net(image)  # expect: eval-without-no-grad
    print(path, prediction.argmax().item())
