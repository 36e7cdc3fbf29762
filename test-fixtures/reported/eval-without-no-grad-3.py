# volatile=True was the way before 0.4 and has no effect since: the sequence model still builds its graph.
import torch
from torch.autograd import Variable
from torch import nn


class RNNModel(nn.Module):
    def __init__(self, ntoken, nhid):
        super(RNNModel, self).__init__()
        self.encoder = nn.Embedding(ntoken, nhid)
        self.rnn = nn.LSTM(nhid, nhid, 2)
        self.decoder = nn.Linear(nhid, ntoken)

    def forward(self, input, hidden):
        output, hidden = self.rnn(self.encoder(input), hidden)
        return self.decoder(output), hidden


def evaluate(model, data_source, criterion, bptt=35):
    model.eval()
    total_loss = 0
    hidden = (torch.zeros(2, 10, 200), torch.zeros(2, 10, 200))
    for i in range(0, data_source.size(0) - 1, bptt):
        data = Variable(data_source[i : i + bptt], volatile=True)
        output, hidden = model(data, hidden)  # expect: eval-without-no-grad
        targets = data_source[i + 1 : i + 1 + bptt].reshape(-1)
        total_loss += len(data) * criterion(output[: len(targets) // 10].flatten(0, 1), targets).item()
        hidden = tuple(h.detach() for h in hidden)
    return total_loss / len(data_source)


print(evaluate(RNNModel(1000, 200), torch.randint(1000, (3501, 10)), nn.CrossEntropyLoss()))
