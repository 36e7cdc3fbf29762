# The model is put into eval mode by whoever calls the helper. One that gives numbers keeps the graph to itself: its forward
# is the place. One that gives its outputs is needed elsewhere: the call is.
import torch
from torch import nn
from torchvision.models import resnet18

model = resnet18().cuda()
model.eval()


def features(image):
    return model(image.cuda()).cpu().detach().numpy()  # expect: eval-without-no-grad


def features_without_graph(image):
    with torch.no_grad():
        return model(image.cuda()).cpu().numpy()


def saliency(image):
    image.requires_grad_()
    model(image.cuda()).max().backward()
    return image.grad.numpy()


@torch.no_grad()
def all_features(images):
    return [features(image) for image in images]


collected = []
for image in torch.randn(100, 1, 3, 224, 224):
    collected.append(features(image))
    collected.append(features_without_graph(image))


def explain(images):
    model.eval()
    return [saliency(image) for image in images]


class Net:
    """The interface of scikit-learn."""

    def __init__(self, module: nn.Module, loss: nn.Module):
        self.module_ = module.cuda()
        self.loss_ = loss
        self.optimizer_ = torch.optim.SGD(self.module_.parameters(), lr=0.1)

    def infer(self, x):
        return self.module_(x.cuda())

    def train_step(self, x, y):
        self.module_.train()
        self.optimizer_.zero_grad()
        loss = self.loss_(self.infer(x), y.cuda())
        loss.backward()
        self.optimizer_.step()

    def validation_step(self, x, y):
        self.module_.eval()
        predicted = self.infer(x)  # expect: eval-without-no-grad
        return self.loss_(predicted, y.cuda()).item()


class Reinforce:
    """The numbers go out, the graph is kept for the update."""

    def __init__(self):
        self.policy = nn.Sequential(nn.Linear(4, 128), nn.ReLU(), nn.Linear(128, 2)).cuda()
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=1e-2)
        self.log_probs = []

    def act(self, state):
        distribution = torch.distributions.Categorical(logits=self.policy(torch.from_numpy(state).cuda()))
        action = distribution.sample()
        self.log_probs.append(distribution.log_prob(action))
        return action.item()

    def update(self, returns):
        loss = -(torch.stack(self.log_probs) * returns).sum()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.log_probs.clear()


class Greedy:
    def __init__(self):
        self.policy = nn.Sequential(nn.Linear(4, 128), nn.ReLU(), nn.Linear(128, 2)).cuda()

    def act(self, state):
        return self.policy(torch.from_numpy(state).cuda()).argmax().item()  # expect: eval-without-no-grad


def evaluate(env, episodes=10):
    reinforce, greedy = Reinforce(), Greedy()
    for _ in range(episodes):
        for player in (env.first, env.second):
            state, done = env.reset(), False
            while not done:
                state, _, done = env.step(reinforce.act(state))
                state, _, done = env.step(greedy.act(state))
