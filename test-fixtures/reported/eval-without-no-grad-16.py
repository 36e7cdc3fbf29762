# The cloud model of a federated run is tested after each round: neither eval() nor no_grad is there.
# https://github.com/wuzhiyuan2000/FedAgg/issues/2
import torch
from torchvision.models import resnet18


class RunningAverage:
    def __init__(self):
        self.steps = 0
        self.total = 0

    def update(self, val):
        self.total += val
        self.steps += 1

    def value(self):
        return self.total / float(self.steps)


def test_on_cloud(cloud_model, test_data_global, comm_round):
    accTop1_avg = RunningAverage()
    for batch_idx, (images, labels) in enumerate(test_data_global):
        images, labels = images.cuda(), labels.cuda()
        log_probs = cloud_model(images)  # expect: eval-without-no-grad
        correct = log_probs.argmax(dim=1).eq(labels).float().mean()
        accTop1_avg.update(correct.item())
    print("Test/AccTop1 in comm_round", comm_round, accTop1_avg.value())


def train_round(cloud_model, train_data, optimizer):
    for images, labels in train_data:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(cloud_model(images.cuda()), labels.cuda())
        loss.backward()
        optimizer.step()


def run_fedagg(train_data_local, test_data_global, rounds):
    cloud_model = resnet18(num_classes=10).cuda()
    optimizer = torch.optim.SGD(cloud_model.parameters(), lr=0.01, momentum=0.9)
    for comm_round in range(rounds):
        train_round(cloud_model, train_data_local, optimizer)
        test_on_cloud(cloud_model, test_data_global, comm_round)
