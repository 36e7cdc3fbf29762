# One iteration() for training and test: "I think it should use torch.no_grad(). Or it will run out of GPU memory."
# https://github.com/codertimo/BERT-pytorch/issues/92
import torch.nn as nn
import tqdm
from torch.optim import Adam
from torch.utils.data import DataLoader


class BERTLM(nn.Module):
    def __init__(self, vocab, hidden=768):
        super().__init__()
        self.embedding = nn.Embedding(vocab, hidden)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(hidden, 12, batch_first=True), 12)
        self.next_sentence = nn.Linear(hidden, 2)
        self.mask_lm = nn.Linear(hidden, vocab)

    def forward(self, x, segment_label):
        x = self.encoder(self.embedding(x))
        return self.next_sentence(x[:, 0]).log_softmax(-1), self.mask_lm(x).log_softmax(-1)


class BERTTrainer:
    def __init__(self, vocab_size, train_dataloader: DataLoader, test_dataloader: DataLoader = None):
        self.device = "cuda:0"
        self.model = BERTLM(vocab_size).to(self.device)
        self.train_data = train_dataloader
        self.test_data = test_dataloader
        self.optim = Adam(self.model.parameters(), lr=1e-4)
        self.criterion = nn.NLLLoss(ignore_index=0)

    def train(self, epoch):
        self.iteration(epoch, self.train_data)

    def test(self, epoch):
        self.iteration(epoch, self.test_data, train=False)  # expect: eval-without-no-grad

    def iteration(self, epoch, data_loader, train=True):
        str_code = "train" if train else "test"
        data_iter = tqdm.tqdm(enumerate(data_loader), desc="EP_%s:%d" % (str_code, epoch), total=len(data_loader))
        avg_loss = 0.0
        for i, data in data_iter:
            data = {key: value.to(self.device) for key, value in data.items()}
            next_sent_output, mask_lm_output = self.model.forward(data["bert_input"], data["segment_label"])
            next_loss = self.criterion(next_sent_output, data["is_next"])
            mask_loss = self.criterion(mask_lm_output.transpose(1, 2), data["bert_label"])
            loss = next_loss + mask_loss
            if train:
                self.optim.zero_grad()
                loss.backward()
                self.optim.step()
            avg_loss += loss.item()
        print("EP%d_%s, avg_loss=" % (epoch, str_code), avg_loss / len(data_iter))


def main(vocab_size, train_loader, test_loader):
    trainer = BERTTrainer(vocab_size, train_loader, test_loader)
    for epoch in range(10):
        trainer.train(epoch)
        trainer.test(epoch)
