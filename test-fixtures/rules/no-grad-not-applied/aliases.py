import torch as th
from torch import inference_mode, nn
from torch import no_grad as ng
from torch.amp import autocast


class Distiller:
    def __init__(self, student, teacher):
        self.student = student
        self.teacher = teacher.eval().requires_grad_(False)
        self.optimizer = th.optim.SGD(self.student.parameters(), lr=0.1)

    def targets(self, x):
        ng()  # expect: no-grad-not-applied
        return self.teacher(x).softmax(-1)

    def step(self, x):
        target = self.targets(x)
        self.optimizer.zero_grad()
        autocast("cuda", dtype=th.bfloat16)  # expect: no-grad-not-applied
        loss = nn.functional.cross_entropy(self.student(x), target)
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def describe(self):
        inference_mode(True)  # expect: no-grad-not-applied
        return sum(p.numel() for p in self.student.parameters())


distiller = Distiller(nn.Linear(32, 10), nn.Linear(32, 10))
print(distiller.describe())
for _ in range(200):
    distiller.step(th.randn(16, 32))
