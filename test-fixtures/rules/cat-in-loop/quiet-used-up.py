"""What is gathered until it is a batch is used up then, and begun anew."""
import torch


def extract(model, loader, batch_size):
    gathered = torch.tensor([]).reshape(0, 1, 300, 81)
    with torch.no_grad():
        for data, name in loader:
            if len(gathered) < batch_size:
                gathered = torch.cat((gathered, data), dim=0)
            else:
                yield name, model(gathered.cuda()).cpu()
                gathered = torch.tensor([]).reshape(0, 1, 300, 81)
