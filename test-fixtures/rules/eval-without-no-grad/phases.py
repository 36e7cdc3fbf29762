# One loop for both phases: `set_grad_enabled(phase == "train")` was left out.
import torch


def train_model(model, dataloaders, criterion, optimizer, num_epochs=25):
    for epoch in range(num_epochs):
        for phase in ["train", "val"]:
            if phase == "train":
                model.train()
            else:
                model.eval()
            running_loss = 0.0
            for inputs, labels in dataloaders[phase]:
                inputs = inputs.to("cuda:0")
                optimizer.zero_grad()
                outputs = model(inputs)  # expect: eval-without-no-grad
                loss = criterion(outputs, labels.to("cuda:0"))
                if phase == "train":
                    loss.backward()
                    optimizer.step()
                running_loss += loss.item() * inputs.size(0)
            print(phase, running_loss)


def by_key(net, loaders, criterion, optimizer):
    for phase in loaders:
        if phase == "train":
            net.train()
        else:
            net.eval()
        for inputs, labels in loaders[phase]:
            loss = criterion(net(inputs), labels)  # expect: eval-without-no-grad
            if phase == "train":
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()


def by_flag(net, loaders, criterion, optimizer):
    for training in (True, False):
        net.train(training)
        for inputs, labels in loaders[training]:
            loss = criterion(net(inputs), labels)  # expect: eval-without-no-grad
            if training:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()


def only_training(net, loaders, criterion, optimizer):
    for phase in ["train", "train_hard"]:
        for inputs, labels in loaders[phase]:
            loss = criterion(net(inputs), labels)
            if phase in ("train", "train_hard"):
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()


def told_apart(net, loaders, criterion, optimizer):
    for phase in ["train", "val"]:
        for inputs, labels in loaders[phase]:
            if phase == "train":
                optimizer.zero_grad()
                loss = criterion(net(inputs), labels)
                loss.backward()
                optimizer.step()
            else:
                with torch.no_grad():
                    loss = criterion(net(inputs), labels)
            print(loss.item())


def switched(net, loaders, criterion, optimizer):
    for phase in ["train", "val"]:
        torch.set_grad_enabled(phase == "train")
        for inputs, labels in loaders[phase]:
            loss = criterion(net(inputs), labels)
            if phase == "train":
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()


def attacked(net, loaders, criterion, optimizer):
    for phase in ["train", "val"]:
        for inputs, labels in loaders[phase]:
            inputs.requires_grad_()
            loss = criterion(net(inputs), labels)
            loss.backward()
            if phase == "train":
                optimizer.step()
                optimizer.zero_grad()


def forces(net, loaders, criterion, optimizer):
    for phase in ["train", "val"]:
        for positions, energies in loaders[phase]:
            predicted = net(positions)
            (forces,) = torch.autograd.grad(predicted.sum(), positions)
            loss = criterion(predicted, energies) + forces.norm()
            if phase == "train":
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
