import numpy as np
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments


def compute_metrics(prediction):
    predicted = np.argmax(prediction.predictions, axis=-1)
    return {"accuracy": (predicted[:, :-1] == prediction.label_ids[:, 1:]).mean()}


def train(train_dataset, eval_dataset):
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    args = TrainingArguments(output_dir="out", per_device_eval_batch_size=8, eval_strategy="epoch")
    trainer = Trainer(
        model=model,
        args=args,
        train_dataset=train_dataset,
        eval_dataset=eval_dataset,
        compute_metrics=compute_metrics,  # expect: trainer-eval-accumulation
    )
    trainer.train()
