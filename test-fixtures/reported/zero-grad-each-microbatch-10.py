# Private training: zero_grad "is called before every step, even for a virtual step: it will erase the accumulated gradients".
# Form of https://github.com/meta-pytorch/opacus/issues/93 with plain accumulation in place of virtual steps
import torch
import torch.nn as nn
import torchvision
from tqdm import tqdm


def train(args, model, train_loader, optimizer, epoch, device):
    model.train()
    criterion = nn.CrossEntropyLoss()
    n_accumulation_steps = args.batch_size // args.sample_size
    losses = []
    for i, (images, target) in enumerate(tqdm(train_loader)):
        images = images.to(device)
        target = target.to(device)
        output = model(images)
        loss = criterion(output, target) / n_accumulation_steps
        losses.append(loss.item())
        optimizer.zero_grad()  # expect: zero-grad-each-microbatch
        loss.backward()
        if ((i + 1) % n_accumulation_steps == 0) or ((i + 1) == len(train_loader)):
            optimizer.step()
        if i % args.print_freq == 0:
            print(epoch, sum(losses) / len(losses))


def main(args, train_loader):
    model = torchvision.models.resnet18(num_classes=10).to("cuda")
    optimizer = torch.optim.RMSprop(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        train(args, model, train_loader, optimizer, epoch, "cuda")
