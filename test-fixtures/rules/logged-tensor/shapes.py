"""A model that only its name tells, a subclass of a subclass, two values in one call, another method."""
from torch import nn
from transformers import Seq2SeqTrainer


class BaseTrainer(Seq2SeqTrainer):
    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        outputs = model(**inputs)
        loss = outputs.loss
        self.log({"raw_loss": loss})  # expect: logged-tensor
        return (loss, outputs) if return_outputs else loss


class RegularizedTrainer(BaseTrainer):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.head = nn.Linear(768, 2)
        self.auxiliary = nn.Linear(768, 2)

    def training_step(self, model, inputs, *args):
        first = self.head(inputs["hidden"]).logsumexp(-1).mean()
        second = self.auxiliary(inputs["hidden"]).abs().mean()
        self.log({"first": first, "second": second})  # expect: logged-tensor, logged-tensor
        return first + second
