import torch

from project.training import run

run(torch.device("cuda"))
