# vram: device=8GiB, budget=4GiB, optimizer=adam, precision=fp32, batch=50, input=float32[B,16], input=int64[2,400]<50, input=float32[400,8], target=int64[B]<7, loss=cross_entropy, model=GNN(16, 32, 7)
import torch, torch.nn as nn, torch.nn.functional as F

def scatter_sum(src, index, dim_size):
    out = torch.zeros(dim_size, src.size(-1), dtype=src.dtype, device=src.device)
    return out.index_add_(0, index, src)

class SAGEConv(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.lin_l, self.lin_r = nn.Linear(i, o), nn.Linear(i, o, bias=False)
    def forward(self, x, edge_index):
        src, dst = edge_index
        msg = x[src]
        deg = torch.zeros(x.size(0), device=x.device).scatter_add_(0, dst, torch.ones_like(dst, dtype=x.dtype)).clamp_(min=1)
        agg = scatter_sum(msg, dst, x.size(0)) / deg.unsqueeze(-1)
        return self.lin_l(agg) + self.lin_r(x)

class GATLayer(nn.Module):
    def __init__(self, i, o, heads=4):
        super().__init__()
        self.W = nn.Linear(i, o * heads, bias=False)
        self.a_src = nn.Parameter(torch.Tensor(1, heads, o))
        self.a_dst = nn.Parameter(torch.Tensor(1, heads, o))
        self.edge = nn.Linear(8, heads)
        self.heads, self.o = heads, o
        nn.init.xavier_uniform_(self.a_src)
        nn.init.xavier_uniform_(self.a_dst)
    def forward(self, x, edge_index, edge_attr):
        n = x.size(0)
        h = self.W(x).view(-1, self.heads, self.o)
        src, dst = edge_index[0], edge_index[1]
        s = (h * self.a_src).sum(-1)
        d = (h * self.a_dst).sum(-1)
        e = F.leaky_relu(s.index_select(0, src) + d.index_select(0, dst) + self.edge(edge_attr), 0.2)
        e = (e - e.max()).exp()
        idx = dst.unsqueeze(-1).expand_as(e)
        denom = torch.zeros(n, self.heads, device=x.device).scatter_add_(0, idx, e)
        alpha = e / (denom[dst] + 1e-16)
        alpha = F.dropout(alpha, 0.6, self.training)
        msg = h[src] * alpha.unsqueeze(-1)
        out = torch.zeros_like(h)
        out.scatter_add_(0, dst.view(-1, 1, 1).expand_as(msg), msg)
        return out.flatten(1)

class GNN(nn.Module):
    def __init__(self, i, h, o):
        super().__init__()
        self.c1 = SAGEConv(i, h)
        self.c2 = GATLayer(h, h)
        self.bn = nn.BatchNorm1d(h * 4)
        self.out = nn.Linear(h * 4, o)
    def forward(self, x, edge_index, edge_attr):
        x = F.relu(self.c1(x, edge_index))
        x = F.elu(self.bn(self.c2(x, edge_index, edge_attr)))
        return self.out(x)
