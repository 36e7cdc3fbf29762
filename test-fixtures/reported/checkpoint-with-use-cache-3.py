# Form of https://github.com/huggingface/optimum-habana/pull/159: the warning comes for each encoder-decoder model.
from transformers import AutoModelForSeq2SeqLM, Seq2SeqTrainer, Seq2SeqTrainingArguments

training_args = Seq2SeqTrainingArguments(output_dir="summaries", gradient_checkpointing=True, num_train_epochs=3)
model = AutoModelForSeq2SeqLM.from_pretrained("t5-small")
model.config.use_cache = True  # expect: checkpoint-with-use-cache


def main(train_dataset):
    trainer = Seq2SeqTrainer(model=model, args=training_args, train_dataset=train_dataset)
    trainer.train()
