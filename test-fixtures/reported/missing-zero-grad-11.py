# Fine-tuning of a language model on stories: two losses from the model, a step each batch, "that's a mistake indeed".
# https://github.com/huggingface/transformers/issues/340
import torch
from torch.utils.data import DataLoader, RandomSampler, TensorDataset
from tqdm import tqdm, trange
from transformers import OpenAIGPTDoubleHeadsModel


def main(tensors, num_train_epochs=3, lm_coef=0.9):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = OpenAIGPTDoubleHeadsModel.from_pretrained("openai-gpt")
    model.to(device)
    train_data = TensorDataset(*tensors)
    train_dataloader = DataLoader(train_data, sampler=RandomSampler(train_data), batch_size=8)
    optimizer = torch.optim.AdamW(model.parameters(), lr=6.25e-5)
    model.train()
    exp_average_loss = None
    for _ in trange(int(num_train_epochs), desc="Epoch"):
        tqdm_bar = tqdm(train_dataloader, desc="Training")
        for step, batch in enumerate(tqdm_bar):
            batch = tuple(t.to(device) for t in batch)
            input_ids, mc_token_ids, lm_labels, mc_labels = batch
            losses = model(input_ids, mc_token_ids=mc_token_ids, labels=lm_labels, mc_labels=mc_labels)
            loss = lm_coef * losses[0] + losses[1]
            loss.backward()
            optimizer.step()  # expect: missing-zero-grad
            exp_average_loss = loss.item() if exp_average_loss is None else 0.7 * exp_average_loss + 0.3 * loss.item()
            tqdm_bar.desc = "Training loss: {:.2e}".format(exp_average_loss)
