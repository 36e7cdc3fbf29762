# https://github.com/pytorch/tutorials/pull/188: the transfer learning tutorial kept the best weights without a copy,
# so they were always those of the last epoch.
import time

import torch
from torch.autograd import Variable


def train_model(model, criterion, optimizer, scheduler, dataloaders, dataset_sizes, num_epochs=25):
    since = time.time()
    best_model_wts = model.state_dict()
    best_acc = 0.0
    for epoch in range(num_epochs):
        for phase in ["train", "val"]:
            if phase == "train":
                model.train(True)
            else:
                model.train(False)
            running_corrects = 0
            for data in dataloaders[phase]:
                inputs, labels = data
                inputs, labels = Variable(inputs.cuda()), Variable(labels.cuda())
                optimizer.zero_grad()
                outputs = model(inputs)  # expect: eval-without-no-grad
                _, preds = torch.max(outputs.data, 1)
                loss = criterion(outputs, labels)
                if phase == "train":
                    loss.backward()
                    optimizer.step()
                running_corrects += torch.sum(preds == labels.data).item()
            if phase == "train":
                scheduler.step()
            epoch_acc = running_corrects / dataset_sizes[phase]
            if phase == "val" and epoch_acc > best_acc:
                best_acc = epoch_acc
                best_model_wts = model.state_dict()  # expect: best-state-aliased
    print("Training complete in {:.0f}s".format(time.time() - since))
    model.load_state_dict(best_model_wts)
    return model
