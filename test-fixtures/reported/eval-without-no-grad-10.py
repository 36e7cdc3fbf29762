# "Out of memory in validation step": the loss is read, the graph of each batch is built all the same.
# https://github.com/facebookarchive/loop/issues/57
import torch
from torch import nn
from tqdm import tqdm


class Loop(nn.Module):
    def __init__(self, memory=20, width=256):
        super().__init__()
        self.embedding = nn.Embedding(45, width)
        self.decoder = nn.GRUCell(width, width)
        self.output = nn.Linear(width, 63)

    def forward(self, text, features):
        context = self.embedding(text).mean(1)
        frames = []
        state = torch.zeros_like(context)
        for _ in range(features.size(1)):
            state = self.decoder(context, state)
            frames.append(self.output(state))
        return torch.stack(frames, 1), state


def evaluate(model, criterion, valid_loader, epoch, eval_losses):
    total = 0
    valid_enum = tqdm(valid_loader, desc="Valid epoch %d" % epoch)
    for txt, feat in valid_enum:
        output, _ = model(txt.cuda(), feat.cuda())  # expect: eval-without-no-grad
        loss = criterion(output, feat.cuda())
        total += loss.item()
        valid_enum.set_description("Valid (loss %.2f) epoch %d" % (loss.item(), epoch))
    avg = total / len(valid_loader)
    eval_losses.append(avg)
    return avg


def main(train_loader, valid_loader):
    model = Loop().cuda()
    criterion = nn.MSELoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    eval_losses = []
    for epoch in range(90):
        for txt, feat in train_loader:
            optimizer.zero_grad()
            output, _ = model(txt.cuda(), feat.cuda())
            loss = criterion(output, feat.cuda())
            loss.backward()
            optimizer.step()
        evaluate(model, criterion, valid_loader, epoch, eval_losses)
