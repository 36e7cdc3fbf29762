# "You use zero_grad() each time before backward()", although the guard has one as well.
# https://github.com/ZiqiaoPeng/DualTalk/issues/9
import torch
import torch.nn as nn
from tqdm import tqdm


def trainer(args, train_loader, dev_loader, model, optimizer, criterion, epoch=100):
    for e in range(epoch + 1):
        loss_log = []
        model.train()
        pbar = tqdm(enumerate(train_loader), total=len(train_loader))
        optimizer.zero_grad()
        for i, (audio, other, target) in pbar:
            audio, other, target = audio.cuda(), other.cuda(), target.cuda()
            loss = criterion(model(audio, other), target) / args.gradient_accumulation_steps
            optimizer.zero_grad()  # expect: zero-grad-each-microbatch
            loss.backward()
            loss_log.append(loss.item())
            if i % args.gradient_accumulation_steps == 0:  # expect: accumulation-last-group
                optimizer.step()
                optimizer.zero_grad()
            pbar.set_description("epoch {} loss {:.4f}".format(e, sum(loss_log) / len(loss_log)))
