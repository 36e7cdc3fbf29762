# "Why is retain_graph set to True? I'm not sure about the necessity": losses of a batch of graphs, one backward.
# https://github.com/benedekrozemberczki/SimGNN/issues/41
import torch
from tqdm import tqdm


class SimGNN(torch.nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.convolution = torch.nn.Linear(width, 64)
        self.scoring_layer = torch.nn.Linear(64, 1)

    def forward(self, data):
        first = torch.relu(self.convolution(data["features_1"])).mean(0)
        second = torch.relu(self.convolution(data["features_2"])).mean(0)
        return torch.sigmoid(self.scoring_layer(first * second))


class SimGNNTrainer:
    def __init__(self, args, training_graphs):
        self.args = args
        self.training_graphs = training_graphs
        self.model = SimGNN()

    def process_batch(self, batch):
        self.optimizer.zero_grad()
        losses = 0
        for graph_pair in batch:
            prediction = self.model(graph_pair)
            losses = losses + torch.nn.functional.mse_loss(graph_pair["target"], prediction)
        losses.backward(retain_graph=True)  # expect: retain-graph-in-loop
        self.optimizer.step()
        return losses.item()

    def fit(self):
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=self.args.learning_rate)
        self.model.train()
        for epoch in tqdm(range(self.args.epochs)):
            for batch in self.training_graphs:
                self.process_batch(batch)
