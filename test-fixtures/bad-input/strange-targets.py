import torch
for loss.x[0], (*rest, losses[1]) in loader:
    losses[0] += loss
    (a, [b, c]), *d = losses
    losses.append(*losses, **losses)
    losses.append()
    losses.append(loss := model(x))
    loss().backward()()
    [].append(loss)
    {}["a"] = loss
    "".join(loss)
    (lambda: loss)().backward()
    del losses[:], loss.x
    global losses
    nonlocal y
    return loss
    yield loss
await loss
break
continue
