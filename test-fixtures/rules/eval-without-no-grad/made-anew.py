# What was called on an earlier object of the same name says nothing of the present one; a repeated forward is named
# before one that stands by itself.
import torch
from torch import nn
from torchvision.models.detection import maskrcnn_resnet50_fpn
from tqdm import tqdm

from data import images, words


def lesson():
    decoder = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 8)).cuda()
    decoder.eval()
    # A step of training, shown bit by bit.
    decoder, optimizer = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 8)), None
    decoder = decoder.to("cuda")
    scores = decoder(words)
    print(scores, optimizer)


def wrapped():
    judge = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))
    judge.eval()
    judge = nn.DataParallel(judge)
    judge = judge.to("cuda")
    print(judge(words).argmax(-1))  # expect: eval-without-no-grad


def compare(net):
    net.eval()
    first = net(images[0]).argmax(-1)
    for image in images:
        print(first, net(image).argmax(-1))  # expect: eval-without-no-grad


compare(nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8, 8)))


def random_search(model, x):
    model.eval()
    with tqdm(range(100)) as bar:
        for _ in bar:
            guess = model(x + torch.rand_like(x)).argmax(1)  # expect: eval-without-no-grad
            bar.set_postfix(guess=guess.tolist())


def try_detector():
    detector = maskrcnn_resnet50_fpn()
    detector.eval()
    predictions = detector([torch.rand(3, 300, 400), torch.rand(3, 500, 400) * 0.5])
    print(predictions)


layer = nn.BatchNorm2d(16)
layer.eval()
out = layer(images[0])
print(vars(layer))
