# Settings written in the call, positional arguments, a model behind adapters, a class that keeps both, TRL's trainer.
import transformers
from peft import LoraConfig, get_peft_model
from transformers import (
    AutoModelForMaskedLM,
    AutoModelForSeq2SeqLM,
    GPT2LMHeadModel,
    Seq2SeqTrainer,
    Seq2SeqTrainingArguments,
    Trainer,
    TrainingArguments,
)
from trl import SFTConfig, SFTTrainer


def masked(data, metrics):
    model = AutoModelForMaskedLM.from_pretrained("bert-base-uncased")
    trainer = Trainer(model, TrainingArguments("out"), eval_dataset=data, compute_metrics=metrics)  # expect: trainer-eval-accumulation
    return trainer.evaluate()


def translated(data, metrics):
    arguments = Seq2SeqTrainingArguments(output_dir="out", predict_with_generate=False)
    return Seq2SeqTrainer(
        model=AutoModelForSeq2SeqLM.from_pretrained("t5-small"),
        args=arguments,
        eval_dataset=data,
        compute_metrics=metrics,  # expect: trainer-eval-accumulation
    )


def adapted(data, metrics):
    base = transformers.AutoModelForCausalLM.from_pretrained("gpt2")
    model = get_peft_model(base, LoraConfig(r=8))
    args = transformers.TrainingArguments(output_dir="out")
    trainer = transformers.Trainer(model=model, args=args, train_dataset=data, compute_metrics=metrics)  # expect: trainer-eval-accumulation
    trainer.train()
    print(trainer.predict(data).metrics)


def instructed(data, metrics):
    trainer = SFTTrainer(
        model="gpt2",
        args=SFTConfig(output_dir="out"),
        train_dataset=data,
        eval_dataset=data,
        compute_metrics=metrics,  # expect: trainer-eval-accumulation
    )
    trainer.train()


class Experiment:
    def __init__(self, metrics):
        self.model = GPT2LMHeadModel.from_pretrained("gpt2")
        self.args = TrainingArguments(output_dir="out", eval_accumulation_steps=None)
        self.metrics = metrics

    def run(self, data):
        trainer = Trainer(self.model, self.args, eval_dataset=data, compute_metrics=self.metrics)  # expect: trainer-eval-accumulation
        trainer.train()
