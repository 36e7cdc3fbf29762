import torch


def adjust_learning_rate(optimizer, epoch, lr):
    for group in optimizer.param_groups:
        group["lr"] = scheduled(lr, epoch)


def scheduled(lr, epoch):
    return lr * 0.1 ** (epoch // 30)


def keep(model, optimizer, path):
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, path)


def clear(params):
    for parameter in params.param_groups[0]["params"]:
        parameter.grad = None


def advance(o, loss):
    loss.backward()
    finish(o)


def finish(o):
    o.step()
    o.zero_grad()
