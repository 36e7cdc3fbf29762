# Losses of all micro-batches are summed whatever their number: the loss goes from 6 to 26 with four times the steps.
# Form of https://github.com/agokrani/distillKitPlus/issues/5, in a loop of one's own.
import torch
import torch.nn.functional as F
from transformers import AutoModelForCausalLM


class Distiller:
    def __init__(self, args):
        self.args = args
        self.student = AutoModelForCausalLM.from_pretrained(args.student).cuda()
        self.teacher = AutoModelForCausalLM.from_pretrained(args.teacher).cuda().eval()
        self.optimizer = torch.optim.AdamW(self.student.parameters(), lr=args.lr)

    def kd_loss(self, batch):
        with torch.no_grad():
            teacher_logits = self.teacher(**batch).logits
        student_logits = self.student(**batch).logits
        return F.kl_div(F.log_softmax(student_logits, -1), F.softmax(teacher_logits, -1), reduction="batchmean")

    def train(self, dataloader):
        self.student.train()
        self.optimizer.zero_grad()
        for step, batch in enumerate(dataloader):
            batch = {name: value.cuda() for name, value in batch.items()}
            loss = self.kd_loss(batch)
            loss.backward()  # expect: accumulation-loss-not-scaled
            if (step + 1) % self.args.gradient_accumulation_steps == 0 or (step + 1) == len(dataloader):
                self.optimizer.step()
                self.optimizer.zero_grad()
