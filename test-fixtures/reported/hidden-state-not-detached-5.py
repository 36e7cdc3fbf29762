# The state is an attribute of the network, made in __init__ and never again; retain_graph silenced the error.
# Form of https://github.com/sgadgil6/cnslab_fmri/issues/4 (the class as it is quoted there)
import torch
import torch.nn as nn


class fMRI_LSTM(nn.Module):
    def __init__(self, hidden_dim, input_dim):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.lstm = nn.LSTM(input_dim, hidden_dim, num_layers=1, batch_first=True)
        self.linear = nn.Linear(hidden_dim, 1)
        self.hidden = self.init_hidden()

    def init_hidden(self):
        return (torch.randn(1, 64, self.hidden_dim).cuda(), torch.randn(1, 64, self.hidden_dim).cuda())

    def forward(self, x):
        lstm_out, self.hidden = self.lstm(x, self.hidden)  # expect: hidden-state-not-detached
        return torch.sigmoid(self.linear(lstm_out[:, -1, :]))


def train(train_loader):
    model = fMRI_LSTM(256, 22).cuda()
    loss_function = nn.BCELoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
    for epoch in range(100):
        for inputs, labels in train_loader:
            model.zero_grad()
            outputs = model(inputs.cuda())
            loss = loss_function(outputs.squeeze(), labels.cuda())
            loss.backward(retain_graph=True)
            optimizer.step()
