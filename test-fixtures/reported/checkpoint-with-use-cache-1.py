# Form of https://github.com/huggingface/transformers/issues/23808: the warning "`use_cache=True` is incompatible with gradient checkpointing".
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments

tokenizer = AutoTokenizer.from_pretrained("EleutherAI/gpt-neo-125m")
# expect-next: checkpoint-with-use-cache
model = AutoModelForCausalLM.from_pretrained("EleutherAI/gpt-neo-125m", use_cache=True).cuda()
training_args = TrainingArguments(
    output_dir="results",
    num_train_epochs=1,
    per_device_train_batch_size=1,
    gradient_checkpointing=True,
    fp16=True,
)


def main(train_dataset):
    Trainer(model=model, args=training_args, train_dataset=train_dataset).train()


print(torch.cuda.is_available())
