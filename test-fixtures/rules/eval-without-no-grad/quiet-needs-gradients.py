# Evaluation that needs gradients: attacks, forces, saliency, a validation loss for architecture search, frozen
# statistics during fine-tuning.
import torch
import torch.nn.functional as F


def fgsm_test(model, device, test_loader, epsilon):
    model.eval()
    correct = 0
    for data, target in test_loader:
        data, target = data.to(device), target.to(device)
        data.requires_grad = True
        output = model(data)
        loss = F.nll_loss(output, target)
        model.zero_grad()
        loss.backward()
        perturbed = torch.clamp(data + epsilon * data.grad.sign(), 0, 1)
        with torch.no_grad():
            correct += (model(perturbed).argmax(1) == target).sum().item()
    return correct / len(test_loader.dataset)


def evaluate_forces(potential, loader):
    potential.eval()
    errors = []
    for positions, numbers, forces in loader:
        positions.requires_grad_(True)
        energy = potential(positions, numbers)
        predicted = -torch.autograd.grad(energy.sum(), positions)[0]
        errors.append((predicted - forces).abs().mean().item())
    return sum(errors) / len(errors)


def saliency(model, image, label):
    model.eval()
    image = image.clone().requires_grad_()
    model(image)[0, label].backward()
    return image.grad.abs().amax(dim=1)


def architecture_step(model, alphas, optimizer, val_loader, criterion):
    for x, y in val_loader:
        optimizer.zero_grad()
        loss = criterion(model(x, alphas), y)
        loss.backward()
        optimizer.step()


def finetune_with_frozen_statistics(model, loader, optimizer):
    model.eval()
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()


def relevance(image):
    """Another method of the model's own class asks for the gradients."""
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
    image.requires_grad_()
    model.eval()
    scores = model(image)
    print(scores.argmax(dim=-1))
    show(relevance_of(model))


class Sampler(torch.nn.Module):
    """Nothing to train: what it is given brings the only gradients."""

    def __init__(self, fused: bool = True, rate: float = 0.0):
        super().__init__()
        self.fused = bool(fused and hasattr(F, "scaled_dot_product_attention"))
        self.rate = float(rate)

    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v) if self.fused else q


def compare_attention(loader):
    attention = Sampler()
    attention.eval()
    return [attention(q, k, v).mean().item() for q, k, v in loader] + [attention(*loader[0]).mean().item()]


def continuity_error(coordinates, residual):
    """A physics-informed network: the residual differentiates the outputs by the coordinates."""
    network = torch.nn.Sequential(torch.nn.Linear(3, 64), torch.nn.Tanh(), torch.nn.Linear(64, 4)).cuda()
    network.eval()
    points = coordinates.clone().detach().requires_grad_(True)
    fields = network(points)
    error = residual(points, fields)
    return error.item()


def validate_on_boundary(residual, n=100, width=2.0):
    network = torch.nn.Sequential(torch.nn.Linear(2, 64), torch.nn.Tanh(), torch.nn.Linear(64, 3))
    network.eval()
    x = torch.rand(n, 1, requires_grad=True) * width
    y = torch.rand(n, 1)
    points = torch.cat([x, y], dim=1)
    return residual(points, network(points)).mean().item()
