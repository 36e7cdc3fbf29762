from transformers import AutoModelForCausalLM, Trainer, TrainingArguments


def run(data, metrics, is_large):
    args = TrainingArguments(output_dir="out")
    if is_large:
        args.eval_accumulation_steps = 4
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    return Trainer(model, args, eval_dataset=data, compute_metrics=metrics).evaluate()
