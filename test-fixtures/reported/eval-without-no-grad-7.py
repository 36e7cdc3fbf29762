# A translation word by word that calls the parts of the model: a graph for the whole sentence.
import torch
import torch.nn as nn
class Seq2Seq(nn.Module):
    def __init__(self, encoder, decoder, device):
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder
        self.device = device
    def forward(self, src, trg, teacher_forcing_ratio=0.5):
        hidden, cell = self.encoder(src)
        outputs = []
        input = trg[0, :]
        for t in range(1, trg.shape[0]):
            output, hidden, cell = self.decoder(input, hidden, cell)
            outputs.append(output)
            input = trg[t]
        return torch.stack(outputs)

def translate_sentence(sentence, src_field, trg_field, model, device, max_len=50):
    model.eval()
    tokens = [token.lower() for token in sentence]
    src_indexes = [src_field.vocab.stoi[token] for token in tokens]
    src_tensor = torch.LongTensor(src_indexes).unsqueeze(1).to(device)
    hidden, cell = model.encoder(src_tensor)
    trg_indexes = [trg_field.vocab.stoi['<sos>']]
    for i in range(max_len):
        trg_tensor = torch.LongTensor([trg_indexes[-1]]).to(device)
        output, hidden, cell = model.decoder(trg_tensor, hidden, cell)  # expect: eval-without-no-grad
        pred_token = output.argmax(1).item()
        trg_indexes.append(pred_token)
        if pred_token == trg_field.vocab.stoi['<eos>']:
            break
    return trg_indexes
