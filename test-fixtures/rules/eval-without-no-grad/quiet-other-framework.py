"""Gluon's networks, with pictures prepared by torchvision: nothing here is PyTorch."""
from mxnet import autograd, gluon
from torchvision import transforms
from torchvision.transforms import functional as TF

net = gluon.model_zoo.vision.resnet50_v1()
trainer = gluon.Trainer(net.collect_params(), "sgd")
augment = transforms.Compose([transforms.RandomCrop(224), TF.hflip])


def evaluate(val_data):
    hits = 0
    for data, label in val_data:
        output = net(data)
        hits += (output.argmax(1) == label).sum()
    return hits


for data, label in train_data:
    with autograd.record():
        loss = gluon.loss.SoftmaxCrossEntropyLoss()(net(data), label)
    loss.backward()
    trainer.step(32)
    evaluate(val_data)
