from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

from data import dataset

model = AutoModelForCausalLM.from_pretrained("gpt2")
arguments = TrainingArguments(output_dir="out", gradient_checkpointing=True)
trainer = Trainer(model=model, args=arguments, train_dataset=dataset)
trainer.train()
model.config.use_cache = True
trainer.save_model()

other = AutoModelForCausalLM.from_pretrained("gpt2", use_cache=True)
other.gradient_checkpointing_enable()
other.config.use_cache = False
