# The loop behind `trainer.evaluate`: predictions and labels are joined batch by batch, "OOM when evaluating".
# https://github.com/huggingface/transformers/issues/7158
import torch
from torch.utils.data import DataLoader
from transformers import BartForConditionalGeneration


class Evaluator:
    def __init__(self, model, device="cuda"):
        self.model = model.to(device)
        self.device = device

    def prediction_step(self, inputs):
        inputs = {name: value.to(self.device) for name, value in inputs.items()}
        with torch.no_grad():
            outputs = self.model(**inputs)
        return outputs.loss.item(), outputs.logits.detach(), inputs["labels"]

    def prediction_loop(self, dataloader):
        self.model.eval()
        preds = None
        label_ids = None
        eval_losses = []
        for inputs in dataloader:
            loss, logits, labels = self.prediction_step(inputs)
            eval_losses.append(loss)
            if logits is not None:
                preds = logits if preds is None else torch.cat((preds, logits), dim=0)  # expect: cat-in-loop
            if labels is not None:
                label_ids = labels if label_ids is None else torch.cat((label_ids, labels), dim=0)
        return preds.cpu().numpy(), label_ids.cpu().numpy()


def main(dataset):
    model = BartForConditionalGeneration.from_pretrained("facebook/bart-base")
    return Evaluator(model).prediction_loop(DataLoader(dataset, batch_size=4))
