# vram: batch=8, input=float32[B,9,2], target=int64[B,9]<9, loss=pointer_loss, optimizer=adam, precision=fp32
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn import Parameter


class PtrAttention(nn.Module):
    def __init__(self, input_dim, hidden_dim):
        super(PtrAttention, self).__init__()
        self.input_dim = input_dim
        self.hidden_dim = hidden_dim
        self.input_linear = nn.Linear(input_dim, hidden_dim)
        self.context_linear = nn.Conv1d(input_dim, hidden_dim, 1, 1)
        self.V = Parameter(torch.FloatTensor(hidden_dim), requires_grad=True)
        self._inf = Parameter(torch.FloatTensor([float('-inf')]), requires_grad=False)
        self.tanh = nn.Tanh()
        self.softmax = nn.Softmax(dim=1)
        nn.init.uniform_(self.V, -1, 1)

    def forward(self, input, context, mask):
        inp = self.input_linear(input).unsqueeze(2).expand(-1, -1, context.size(1))
        context = context.permute(0, 2, 1)
        ctx = self.context_linear(context)
        V = self.V.unsqueeze(0).expand(context.size(0), -1).unsqueeze(1)
        att = torch.bmm(V, self.tanh(inp + ctx)).squeeze(1)
        att = att.masked_fill(mask, float('-inf'))
        alpha = self.softmax(att)
        hidden_state = torch.bmm(ctx, alpha.unsqueeze(2)).squeeze(2)
        return hidden_state, alpha


class PointerNet(nn.Module):
    def __init__(self, hidden=32):
        super(PointerNet, self).__init__()
        self.embedding = nn.Linear(2, 16)
        self.encoder = nn.Conv1d(16, hidden, 3, padding=1)
        self.input_to_hidden = nn.Linear(16, 4 * hidden)
        self.hidden_to_hidden = nn.Linear(hidden, 4 * hidden)
        self.hidden_out = nn.Linear(hidden * 2, hidden)
        self.att = PtrAttention(hidden, hidden)
        self.mask = Parameter(torch.ones(1), requires_grad=False)
        self.runner = Parameter(torch.zeros(1), requires_grad=False)
        self.decoder_input0 = Parameter(torch.FloatTensor(16), requires_grad=False)

    def forward(self, inputs):
        B, L = inputs.size(0), inputs.size(1)
        emb = self.embedding(inputs.view(-1, 2)).view(B, L, -1)
        context = self.encoder(emb.transpose(1, 2)).transpose(1, 2)
        h = context.mean(1)
        c = torch.zeros_like(h)
        mask = self.mask.repeat(L).unsqueeze(0).repeat(B, 1)
        runner = self.runner.repeat(L)
        for i in range(L):
            runner.data[i] = i
        runner = runner.unsqueeze(0).expand(B, -1).long()
        x = self.decoder_input0.unsqueeze(0).expand(B, -1)
        outputs, pointers = [], []

        def step(x, hidden):
            h, c = hidden
            gates = self.input_to_hidden(x) + self.hidden_to_hidden(h)
            i, f, g, o = gates.chunk(4, 1)
            i, f, g, o = torch.sigmoid(i), torch.sigmoid(f), torch.tanh(g), torch.sigmoid(o)
            c_t = (f * c) + (i * g)
            h_t = o * torch.tanh(c_t)
            hidden_t, output = self.att(h_t, context, torch.eq(mask, 0))
            hidden_t = torch.tanh(self.hidden_out(torch.cat((hidden_t, h_t), 1)))
            return hidden_t, c_t, output

        hidden = (h, c)
        for _ in range(L):
            h_t, c_t, outs = step(x, hidden)
            hidden = (h_t, c_t)
            masked_outs = outs * mask
            max_probs, indices = masked_outs.max(1)
            one_hot_pointers = (runner == indices.unsqueeze(1).expand(-1, outs.size()[1])).float()
            mask = mask * (1 - one_hot_pointers)
            embedding_mask = one_hot_pointers.unsqueeze(2).expand(-1, -1, 16).bool()
            x = (emb * embedding_mask).sum(1)
            outputs.append(outs.unsqueeze(0))
            pointers.append(indices.unsqueeze(1))
        outputs = torch.cat(outputs).permute(1, 0, 2)
        return outputs, torch.cat(pointers, 1)


def pointer_loss(outputs, pointers, target):
    o = outputs.contiguous().view(-1, outputs.size(-1))
    return F.nll_loss(torch.log(o + 1e-9), target.view(-1))
