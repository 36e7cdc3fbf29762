# https://github.com/sicara/easy-few-shot-learning/pull/129: the best state was the last one; helpers train and validate.
import torch
from torch import nn
from torch.optim import SGD

LOSS_FUNCTION = nn.CrossEntropyLoss()
DEVICE = "cuda"


def training_epoch(model, data_loader, optimizer):
    model.train()
    total = 0.0
    for images, labels in data_loader:
        optimizer.zero_grad()
        loss = LOSS_FUNCTION(model(images.to(DEVICE)), labels.to(DEVICE))
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total


def run(model, few_shot_classifier, train_loader, val_loader, evaluate, n_epochs=200):
    train_optimizer = SGD(model.parameters(), lr=1e-1, momentum=0.9, weight_decay=5e-4)
    best_state = model.state_dict()
    best_validation_accuracy = 0.0
    validation_frequency = 10
    for epoch in range(n_epochs):
        training_epoch(model, train_loader, train_optimizer)
        if epoch % validation_frequency == validation_frequency - 1:
            validation_accuracy = evaluate(few_shot_classifier, val_loader, device=DEVICE)
            if validation_accuracy > best_validation_accuracy:
                best_validation_accuracy = validation_accuracy
                best_state = model.state_dict()  # expect: best-state-aliased
                print("Ding ding ding! We found a new best model!")
    model.load_state_dict(best_state)
