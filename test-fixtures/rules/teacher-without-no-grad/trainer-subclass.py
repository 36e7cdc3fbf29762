"""Losses that a subclass of Transformers' Trainer computes itself."""
import torch
import torch.nn.functional as F
from helpers import load_teacher
from transformers import AutoModelForSequenceClassification, Seq2SeqTrainer, Trainer, TrainingArguments


def distance(student_logits, teacher_logits):
    return F.kl_div(F.log_softmax(student_logits, -1), F.softmax(teacher_logits, -1), reduction="batchmean")


class Distillation(Trainer):
    def __init__(self, *args, teacher=None, temperature=2.0, **kwargs):
        super().__init__(*args, **kwargs)
        self.teacher = teacher
        self.teacher.eval()
        self.temperature = temperature

    def compute_loss(self, model, inputs, return_outputs=False):
        outputs = model(**inputs)
        teacher_outputs = self.teacher(**inputs)  # expect: teacher-without-no-grad
        distilled = distance(outputs.logits / self.temperature, teacher_outputs.logits / self.temperature)
        loss = outputs.loss + distilled
        return (loss, outputs) if return_outputs else loss


class OwnTeacher(Seq2SeqTrainer):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.reference_model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased").cuda()

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        outputs = model(**inputs)
        reference = self.reference_model(**inputs)  # expect: teacher-without-no-grad
        loss = F.mse_loss(outputs.logits, reference.logits)
        if return_outputs:
            return loss, outputs
        return loss


class UnderNoGrad(Trainer):
    def __init__(self, *args, teacher=None, **kwargs):
        super().__init__(*args, **kwargs)
        self.teacher = teacher

    def compute_loss(self, model, inputs, return_outputs=False):
        outputs = model(**inputs)
        with torch.no_grad():
            teacher_logits = self.teacher(**inputs).logits
        return distance(outputs.logits, teacher_logits)


class Detached(Trainer):
    def __init__(self, *args, teacher=None, **kwargs):
        super().__init__(*args, **kwargs)
        self.teacher = teacher

    def compute_loss(self, model, inputs, return_outputs=False):
        return distance(model(**inputs).logits, self.teacher(**inputs).logits.detach())


class FrozenInside(Trainer):
    def __init__(self, *args, teacher=None, **kwargs):
        super().__init__(*args, **kwargs)
        for parameter in teacher.parameters():
            parameter.requires_grad = False
        self.teacher = teacher

    def compute_loss(self, model, inputs, return_outputs=False):
        return distance(model(**inputs).logits, self.teacher(**inputs).logits)


class FrozenOutside(Trainer):
    def __init__(self, *args, teacher=None, **kwargs):
        super().__init__(*args, **kwargs)
        self.teacher = teacher

    def compute_loss(self, model, inputs, return_outputs=False):
        return distance(model(**inputs).logits, self.teacher(**inputs).logits)


class Loaded(Trainer):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.teacher = load_teacher()

    def compute_loss(self, model, inputs, return_outputs=False):
        return distance(model(**inputs).logits, self.teacher(**inputs).logits)


class Both(Trainer):
    """The two learn from each other: the optimizer gets both."""

    def __init__(self, *args, teacher=None, **kwargs):
        super().__init__(*args, **kwargs)
        self.teacher = teacher

    def create_optimizer(self):
        self.optimizer = torch.optim.AdamW([*self.model.parameters(), *self.teacher.parameters()])
        return self.optimizer

    def compute_loss(self, model, inputs, return_outputs=False):
        return distance(model(**inputs).logits, self.teacher(**inputs).logits)


class PartOfTheModel(Trainer):
    def __init__(self, model, args):
        super().__init__(model, args)
        self.teacher_head = model.teacher_head

    def compute_loss(self, model, inputs, return_outputs=False):
        return distance(model(**inputs).logits, self.teacher_head(inputs["features"]))


class TheModelItself(Trainer):
    def __init__(self, teacher, args):
        super().__init__(teacher, args)
        self.teacher = teacher

    def compute_loss(self, model, inputs, return_outputs=False):
        return distance(model(**inputs).logits, self.teacher(**inputs).logits)


class NoTrainer:
    def __init__(self, teacher=None):
        self.teacher = teacher

    def compute_loss(self, model, inputs, return_outputs=False):
        return distance(model(**inputs).logits, self.teacher(**inputs).logits)


student = AutoModelForSequenceClassification.from_pretrained("distilbert-base-uncased")
teacher = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased").cuda()
frozen = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased").cuda()
frozen.requires_grad_(False)
Distillation(model=student, args=TrainingArguments("out"), teacher=teacher).train()
FrozenOutside(model=student, args=TrainingArguments("out"), teacher=frozen).train()
