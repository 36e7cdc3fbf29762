"""Gluon: `backward` and `append` mean no autograd graph of PyTorch."""
import numpy as np
from mxnet import autograd, gluon


def fit(net, train_data, loss, epochs):
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    history = []
    total = 0.0
    for epoch in range(epochs):
        for x, y in train_data:
            with autograd.record():
                z = net(x)
                l = loss(z, y)
            l.backward()
            trainer.step(x.shape[0])
            history.append(l)
            total += l
    return np.mean(history), total


def evaluate(net, val_data):
    net.eval()
    outputs = []
    for x, y in val_data:
        outputs.append(net(x))
    return outputs
