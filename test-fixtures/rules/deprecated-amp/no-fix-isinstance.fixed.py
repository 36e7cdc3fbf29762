"""The scaler of the new name would not be an instance of the old class."""
import torch

scaler = torch.cuda.amp.GradScaler()  # expect: deprecated-amp
print(isinstance(scaler, (torch.cuda.amp.GradScaler, type(None))))
