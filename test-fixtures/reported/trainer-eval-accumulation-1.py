# Trainer with a metric over a language model's logits.
from transformers import AutoModelForMaskedLM, Trainer, TrainingArguments


def compute_metrics(prediction):
    logits, labels = prediction
    return {"accuracy": (logits.argmax(-1) == labels).mean()}


def main(train, val):
    model = AutoModelForMaskedLM.from_pretrained("camembert-base")
    args = TrainingArguments("out", per_device_train_batch_size=8, eval_strategy="steps")
    trainer = Trainer(model, args, train_dataset=train, eval_dataset=val, compute_metrics=compute_metrics)  # expect: trainer-eval-accumulation
    trainer.train()
