"""What an inner loop joins from the samples of one batch begins anew with the next one."""
import torch


def quiet_by_index(loader, batch_size):
    for data in loader:
        for i in range(batch_size):
            if i == 0:
                text = data["text"][i][: data["length"][i]]
            else:
                text = torch.cat([text, data["text"][i][: data["length"][i]]])
        print(text.shape)


def quiet_by_flag(loader):
    for images, scores in loader:
        first = True
        for row in scores:
            if first:
                joined = row
                first = False
            else:
                joined = torch.cat([joined, row])
        print(joined.shape, images.shape)


def quiet_in_one_line(loader, net):
    rows = None
    for images in loader:
        for i, image in enumerate(images):
            rows = net(image) if i == 0 else torch.cat([rows, net(image)])
        print(rows.shape)


@torch.no_grad()
def features_of_all(net, loader):
    for step, images in enumerate(loader):
        for scale in (0.5, 1.0):
            found = net(images * scale)
            if step == 0 and scale == 0.5:
                features = found
            else:
                features = torch.cat([features, found])  # expect: cat-in-loop
    return features


@torch.no_grad()
def features_counted(net, loader):
    count = 0
    for images in loader:
        for crop in images.unbind(1):
            if count == 0:
                features = net(crop)
            else:
                features = torch.cat([features, net(crop)])  # expect: cat-in-loop
            count += 1
    return features
