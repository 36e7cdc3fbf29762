# A perceptual loss network with gradients for its weights.
import torch
import torchvision


def train(net, loader):
    net = net.cuda()
    vgg = torchvision.models.vgg16(weights="DEFAULT").features[:16].cuda().eval()
    optimizer = torch.optim.Adam(net.parameters())
    for low, high in loader:
        out = net(low.cuda())
        loss = torch.nn.functional.l1_loss(vgg(out), vgg(high.cuda()))  # expect: teacher-without-no-grad
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
