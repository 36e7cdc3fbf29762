# Objects of libraries that call backward on the scores they are given, or run forward and backward themselves.
import torch
from pytorch_grad_cam import GradCAM
from torchattacks import PGD
from torchcam.methods import GradCAMpp
from torchvision.models import resnet50

from data import image, test_loader

model = resnet50(weights="DEFAULT").cuda()
model.eval()

extractor = GradCAMpp(model, target_layer="layer4")
scores = model(image.unsqueeze(0))
print(extractor(scores.squeeze(0).argmax().item(), scores))

with GradCAMpp(model, target_layer="layer4") as cam:
    for batch in test_loader:
        out = model(batch)
        print(cam(out.argmax(1).tolist(), scores=out))


def robust_accuracy():
    noise = PGD(model, eps=8 / 255)
    correct = 0
    for images, labels in test_loader:
        correct += (model(images).argmax(1) == labels).sum().item()
        correct += (model(noise(images, labels)).argmax(1) == labels).sum().item()
    return correct


def explain_and_score():
    explain = GradCAM(model=model, target_layers=[model.layer4[-1]])
    for images in test_loader:
        print(model(images).argmax(1), explain(input_tensor=images)[0], model(images.flip(-1)).argmax(1))


def accuracy():
    correct = 0
    for images, labels in test_loader:
        correct += (model(images).argmax(1) == labels).sum().item()  # expect: eval-without-no-grad
    return correct
