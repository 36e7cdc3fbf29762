import torch
from safetensors.torch import load_file
from torch import nn

device = torch.device("cuda")
model = nn.Linear(128, 10).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10)
settings = {"map_location": "cpu"}

model.load_state_dict(torch.load("last.pt", map_location="cpu"))
model.load_state_dict(torch.load("last.pt", device))
model.load_state_dict(torch.load("last.pt", lambda storage, location: storage))
model.load_state_dict(torch.load("last.pt", **settings))
model.load_state_dict(torch.load("last.pt", mmap=True))
model.load_state_dict(load_file("last.safetensors"))
scheduler.load_state_dict(torch.load("scheduler.pt"))

if torch.cuda.is_available():
    model.load_state_dict(torch.load("last.pt"))
else:
    model.load_state_dict(torch.load("last.pt", map_location="cpu"))

scripted = torch.jit.load("scripted.pt")
scripted.load_state_dict(torch.load("last.pt", map_location=device))

# An optimizer takes over what is on its device already.
optimizer.load_state_dict(torch.load("optimizer.pt"))
