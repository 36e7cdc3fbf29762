"""The forward and the loss are in functions of their own; the model that nobody trains came from timm."""
import timm
import torch
from torch.nn import functional as F


def build():
    student = timm.create_model("resnet18", num_classes=100).cuda()
    teacher = timm.create_model("resnet152", pretrained=True, num_classes=100).cuda()
    teacher.eval()
    return student, teacher


def distillation_loss(student_logits, teacher_logits, labels, temperature=4.0):
    hard = F.cross_entropy(student_logits, labels)
    soft = F.mse_loss(student_logits / temperature, teacher_logits / temperature)
    return hard + soft


def train_one_epoch(student, teacher, train_loader, optimizer, scaler):
    student.train()
    for images, labels in train_loader:
        images = images.cuda(non_blocking=True)
        labels = labels.cuda(non_blocking=True)
        with torch.autocast("cuda"):
            student_logits = student(images)
            teacher_logits = teacher(images)  # expect: teacher-without-no-grad
            loss = distillation_loss(student_logits, teacher_logits, labels)
        optimizer.zero_grad(set_to_none=True)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()


def main(train_loader):
    student, teacher = build()
    optimizer = torch.optim.SGD(student.parameters(), lr=0.1, momentum=0.9)
    scaler = torch.amp.GradScaler("cuda")
    for _ in range(90):
        train_one_epoch(student, teacher, train_loader, optimizer, scaler)
