# Predictions of each step stay on the GPU and are joined at the end: out of memory for 469,530 sentences.
# https://github.com/huggingface/transformers/issues/7232
import torch
from torch.utils.data import DataLoader
from transformers import AutoModelForMaskedLM

model = AutoModelForMaskedLM.from_pretrained("bert-base-uncased")


def prediction_loop(dataset, device=torch.device("cuda")):
    dataloader = DataLoader(dataset, batch_size=64)
    model.to(device)
    model.eval()
    all_logits = []
    for inputs in dataloader:
        with torch.no_grad():
            outputs = model(**{name: value.to(device) for name, value in inputs.items()})
            logits = outputs[0]
        all_logits.append(logits.detach())  # expect: outputs-kept-on-device
    return torch.cat(all_logits).cpu().numpy()
