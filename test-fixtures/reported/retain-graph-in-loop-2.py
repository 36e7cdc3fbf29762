# "Why set retain_graph to True, will the memory not explode?" One backward over both losses.
# https://github.com/hiyoung123/SoftMaskedBert/issues/15
import torch
from torch import nn
from transformers import BertForMaskedLM


class SoftMaskedTrainer:
    def __init__(self, device="cuda"):
        self.device = torch.device(device)
        self.model = BertForMaskedLM.from_pretrained("bert-base-chinese").to(self.device)
        self.detector = nn.Linear(21128, 1).to(self.device)
        self.optimizer = torch.optim.AdamW([*self.model.parameters(), *self.detector.parameters()], lr=2e-5)
        self.criterion_c = nn.NLLLoss()
        self.criterion_d = nn.BCELoss()

    def train(self, train_data):
        for step, data in enumerate(train_data):
            logits = self.model(data["input_ids"].to(self.device)).logits
            prob = torch.sigmoid(self.detector(logits))
            out = logits.log_softmax(-1)
            loss_c = self.criterion_c(out.transpose(1, 2), data["output_ids"].to(self.device))
            loss_d = self.criterion_d(prob.squeeze(-1), data["labels"].to(self.device))
            loss = 0.8 * loss_c + 0.2 * loss_d
            self.optimizer.zero_grad()
            loss.backward(retain_graph=True)  # expect: retain-graph-in-loop
            self.optimizer.step()
