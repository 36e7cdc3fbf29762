# Layers of a student trained against hidden states of a teacher: "is retain_graph the problem?" The teacher's graph is
# there too. https://github.com/pytorch/pytorch/issues/40005
import torch
import torch.nn.functional as F
from transformers import BertForSequenceClassification

t_model = BertForSequenceClassification.from_pretrained("bert-large-uncased", output_hidden_states=True).cuda().eval()
s_model = BertForSequenceClassification.from_pretrained("bert-base-uncased", output_hidden_states=True).cuda()
optimizer = torch.optim.AdamW(s_model.parameters(), lr=5e-5)


def train(loader):
    for batch in loader:
        input_ids = batch["input_ids"].cuda()
        t_outputs = t_model(input_ids)  # expect: teacher-without-no-grad
        s_outputs = s_model(input_ids)
        output = F.kl_div(
            F.log_softmax(s_outputs.logits, dim=-1), F.softmax(t_outputs.logits, dim=-1), reduction="batchmean"
        )
        optimizer.zero_grad()
        output.backward()
        optimizer.step()
