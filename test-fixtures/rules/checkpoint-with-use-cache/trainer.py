from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

from data import dataset

arguments = TrainingArguments(
    output_dir="out",
    per_device_train_batch_size=4,
    gradient_checkpointing=True,
)
model = AutoModelForCausalLM.from_pretrained("gpt2")
model.config.use_cache = True  # expect: checkpoint-with-use-cache
trainer = Trainer(model=model, args=arguments, train_dataset=dataset)
trainer.train()
