# "eval() only alters dropout and batch norm": distillation where the teacher is in eval mode and nothing else.
# https://github.com/haitongli/knowledge-distillation-pytorch/issues/25
import torch
import torch.nn.functional as F
from torchvision.models import resnet18, resnet50


def loss_fn_kd(outputs, labels, teacher_outputs, alpha=0.9, T=20.0):
    soft = F.kl_div(F.log_softmax(outputs / T, dim=1), F.softmax(teacher_outputs / T, dim=1), reduction="batchmean")
    return soft * (alpha * T * T) + F.cross_entropy(outputs, labels) * (1.0 - alpha)


def train_kd(model, teacher_model, optimizer, dataloader):
    model.train()
    teacher_model.eval()
    for train_batch, labels_batch in dataloader:
        train_batch, labels_batch = train_batch.cuda(), labels_batch.cuda()
        output_batch = model(train_batch)
        output_teacher_batch = teacher_model(train_batch)  # expect: teacher-without-no-grad
        loss = loss_fn_kd(output_batch, labels_batch, output_teacher_batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def main(dataloader):
    model = resnet18(num_classes=10).cuda()
    teacher_model = resnet50(num_classes=10).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(30):
        train_kd(model, teacher_model, optimizer, dataloader)
