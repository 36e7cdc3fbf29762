# A fine-tuned classifier of transformers, evaluated by hand.
import torch
from torch.utils.data import DataLoader
from transformers import AutoModelForSequenceClassification, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased", num_labels=2).cuda()
texts = ["a fine film", "a dull film"] * 500
labels = torch.tensor([1, 0] * 500)


def collate(items):
    encoded = tokenizer([texts[i] for i in items], padding=True, return_tensors="pt")
    encoded["labels"] = labels[items]
    return encoded


eval_dataloader = DataLoader(range(1000), batch_size=32, collate_fn=collate)
model.eval()
eval_loss, nb_eval_steps, hits = 0.0, 0, 0
for batch in eval_dataloader:
    batch = {k: v.cuda() for k, v in batch.items()}
    outputs = model(**batch)  # expect: eval-without-no-grad
    eval_loss += outputs.loss.mean().item()
    hits += (outputs.logits.argmax(-1) == batch["labels"]).sum().item()
    nb_eval_steps += 1
print(eval_loss / nb_eval_steps, hits / len(texts))
