from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

model = AutoModelForCausalLM.from_pretrained("gpt2")
args = TrainingArguments(output_dir="out")


def run(data, metrics):
    Trainer(model, args, train_dataset=data, compute_metrics=metrics).train()
