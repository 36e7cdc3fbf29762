# A running loss of a label model, divided and multiplied by counts, of a second forward for the report.
# Form of https://github.com/BatsResearch/labelmodels/issues/4, with a report apart from the training loss
import torch
import torch.nn as nn


class LabelModel(nn.Module):
    def __init__(self, functions, classes):
        super().__init__()
        self.accuracies = nn.Sequential(nn.Linear(functions, 512), nn.ReLU(), nn.Linear(512, classes))

    def estimate(self, votes, batches, epochs):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.01)
        for epoch in range(epochs):
            self.train()
            running_loss = 0.0
            epoch_loss = 0.0
            for i, batch in enumerate(batches):
                optimizer.zero_grad()
                log_likelihood = self(batch)
                loss = -torch.mean(log_likelihood)
                loss.backward()
                optimizer.step()
                running_loss += self(batch).mean()  # expect: loss-graph-retained
                epoch_loss += loss.item()
            print(epoch, running_loss / len(batches), epoch_loss)

    def forward(self, votes):
        return self.accuracies(votes).logsumexp(dim=1)
