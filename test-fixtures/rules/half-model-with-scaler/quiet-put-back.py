import torch
import torchvision

model = torchvision.models.resnet18().cuda().half()
model.fc.float()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")

for x, y in [(torch.randn(2, 3, 224, 224), torch.zeros(2).long()) for _ in range(3)]:
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x.cuda().half()), y.cuda())
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
