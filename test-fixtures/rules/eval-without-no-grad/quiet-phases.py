import torch
from torch import nn, optim
from torch.optim import lr_scheduler


def train_model(model, criterion, optimizer, scheduler, dataloaders, device, num_epochs=25):
    best_acc = 0.0
    for epoch in range(num_epochs):
        for phase in ["train", "val"]:
            if phase == "train":
                model.train()
            else:
                model.eval()
            running_loss, running_corrects, seen = 0.0, 0, 0
            for inputs, labels in dataloaders[phase]:
                inputs, labels = inputs.to(device), labels.to(device)
                optimizer.zero_grad()
                with torch.set_grad_enabled(phase == "train"):
                    outputs = model(inputs)
                    _, preds = torch.max(outputs, 1)
                    loss = criterion(outputs, labels)
                    if phase == "train":
                        loss.backward()
                        optimizer.step()
                running_loss += loss.item() * inputs.size(0)
                running_corrects += torch.sum(preds == labels.data)
                seen += inputs.size(0)
            if phase == "train":
                scheduler.step()
            accuracy = running_corrects.double() / seen
            print(f"{phase} loss {running_loss / seen:.4f} accuracy {accuracy:.4f}")
            if phase == "val" and accuracy > best_acc:
                best_acc = accuracy
                torch.save(model.state_dict(), "best.pt")
    return model


model = nn.Sequential(nn.Flatten(), nn.Linear(3 * 32 * 32, 2))
optimizer = optim.SGD(model.parameters(), lr=0.001, momentum=0.9)
batches = [(torch.rand(4, 3, 32, 32), torch.randint(2, (4,))) for _ in range(20)]
train_model(
    model,
    nn.CrossEntropyLoss(),
    optimizer,
    lr_scheduler.StepLR(optimizer, step_size=7),
    {"train": batches, "val": batches[:4]},
    "cpu",
)
