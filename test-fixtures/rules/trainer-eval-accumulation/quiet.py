# Moved earlier, made smaller, generated, small by nature, loss only, or settings that this file does not write.
from transformers import (
    AutoModelForCausalLM,
    AutoModelForSeq2SeqLM,
    AutoModelForSequenceClassification,
    HfArgumentParser,
    Seq2SeqTrainer,
    Seq2SeqTrainingArguments,
    Trainer,
    TrainingArguments,
)

model = AutoModelForCausalLM.from_pretrained("gpt2")
plain = TrainingArguments(output_dir="out")


def moved(data, metrics):
    args = TrainingArguments(output_dir="out", eval_accumulation_steps=16)
    return Trainer(model, args, eval_dataset=data, compute_metrics=metrics)


def by_batch(data, metrics):
    args = TrainingArguments(output_dir="out", batch_eval_metrics=True)
    return Trainer(model, args, eval_dataset=data, compute_metrics=metrics)


def reduced(data, metrics):
    return Trainer(
        model,
        plain,
        eval_dataset=data,
        compute_metrics=metrics,
        preprocess_logits_for_metrics=lambda logits, labels: logits.argmax(dim=-1),
    )


def generated(data, metrics):
    return Seq2SeqTrainer(
        AutoModelForSeq2SeqLM.from_pretrained("t5-small"),
        Seq2SeqTrainingArguments(output_dir="out", predict_with_generate=True),
        eval_dataset=data,
        compute_metrics=metrics,
    )


def small(data, metrics):
    classifier = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased", num_labels=3)
    return Trainer(classifier, plain, eval_dataset=data, compute_metrics=metrics)


def loss_only(data):
    return Trainer(model, plain, eval_dataset=data, compute_metrics=None)


def without_metrics(data):
    return Trainer(model, plain, eval_dataset=data)


def from_command_line(data, metrics):
    (args,) = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()
    return Trainer(model, args, eval_dataset=data, compute_metrics=metrics)


def from_settings(data, metrics, **settings):
    return Trainer(model, TrainingArguments(**settings), eval_dataset=data, compute_metrics=metrics)


def given(some_model, data, metrics):
    return Trainer(some_model, plain, eval_dataset=data, compute_metrics=metrics)
