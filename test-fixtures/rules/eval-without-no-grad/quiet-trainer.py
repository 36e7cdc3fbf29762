import numpy as np
from datasets import load_dataset
from transformers import AutoModelForSequenceClassification, AutoTokenizer, Trainer, TrainingArguments


class WeightedTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        loss = (outputs.logits.log_softmax(-1).gather(1, labels.unsqueeze(1)) * -1.0).mean()
        return (loss, outputs) if return_outputs else loss


tokenizer = AutoTokenizer.from_pretrained("distilbert-base-uncased")
model = AutoModelForSequenceClassification.from_pretrained("distilbert-base-uncased", num_labels=2)
dataset = load_dataset("imdb")


def tokenize(batch):
    return tokenizer(batch["text"], truncation=True)


def compute_metrics(prediction):
    return {"accuracy": float((np.argmax(prediction.predictions, -1) == prediction.label_ids).mean())}


encoded = dataset.map(tokenize, batched=True)
trainer = WeightedTrainer(
    model=model,
    args=TrainingArguments("out", per_device_train_batch_size=16, num_train_epochs=1),
    train_dataset=encoded["train"],
    eval_dataset=encoded["test"],
    processing_class=tokenizer,
    compute_metrics=compute_metrics,
)
trainer.train()
model.eval()
for row in dataset["test"].select(range(3)):
    print(tokenizer(row["text"], truncation=True)["input_ids"][:10])
print(trainer.evaluate())
