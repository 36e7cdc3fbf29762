# vram: batch=2, input=float32[B,3,96,96], target=int64[B,20]<12, loss=loss_fn, optimizer=adamw, precision=fp32
import copy
from typing import Optional
import torch
import torch.nn.functional as F
from torch import nn, Tensor


def _get_clones(module, N):
    return nn.ModuleList([copy.deepcopy(module) for i in range(N)])


class PositionEmbeddingSine(nn.Module):
    def __init__(self, num_pos_feats=32, temperature=10000, normalize=True):
        super().__init__()
        self.num_pos_feats, self.temperature, self.normalize = num_pos_feats, temperature, normalize
        self.scale = 6.283185

    def forward(self, x):
        mask = torch.zeros((x.shape[0], x.shape[2], x.shape[3]), dtype=torch.bool, device=x.device)
        not_mask = ~mask
        y_embed = not_mask.cumsum(1, dtype=torch.float32)
        x_embed = not_mask.cumsum(2, dtype=torch.float32)
        if self.normalize:
            eps = 1e-6
            y_embed = y_embed / (y_embed[:, -1:, :] + eps) * self.scale
            x_embed = x_embed / (x_embed[:, :, -1:] + eps) * self.scale
        dim_t = torch.arange(self.num_pos_feats, dtype=torch.float32, device=x.device)
        dim_t = self.temperature ** (2 * (dim_t // 2) / self.num_pos_feats)
        pos_x = x_embed[:, :, :, None] / dim_t
        pos_y = y_embed[:, :, :, None] / dim_t
        pos_x = torch.stack((pos_x[:, :, :, 0::2].sin(), pos_x[:, :, :, 1::2].cos()), dim=4).flatten(3)
        pos_y = torch.stack((pos_y[:, :, :, 0::2].sin(), pos_y[:, :, :, 1::2].cos()), dim=4).flatten(3)
        return torch.cat((pos_y, pos_x), dim=3).permute(0, 3, 1, 2)


class DecoderLayer(nn.Module):
    def __init__(self, d, h, ff=128, p=0.1):
        super().__init__()
        self.self_attn = nn.MultiheadAttention(d, h, dropout=p)
        self.multihead_attn = nn.MultiheadAttention(d, h, dropout=p)
        self.linear1 = nn.Linear(d, ff)
        self.dropout = nn.Dropout(p)
        self.linear2 = nn.Linear(ff, d)
        self.norm1 = nn.LayerNorm(d)
        self.norm2 = nn.LayerNorm(d)
        self.norm3 = nn.LayerNorm(d)

    def with_pos_embed(self, tensor, pos: Optional[Tensor]):
        return tensor if pos is None else tensor + pos

    def forward(self, tgt, memory, pos=None, query_pos=None):
        q = k = self.with_pos_embed(tgt, query_pos)
        tgt2 = self.self_attn(q, k, value=tgt)[0]
        tgt = self.norm1(tgt + self.dropout(tgt2))
        tgt2 = self.multihead_attn(query=self.with_pos_embed(tgt, query_pos), key=self.with_pos_embed(memory, pos), value=memory)[0]
        tgt = self.norm2(tgt + self.dropout(tgt2))
        tgt2 = self.linear2(self.dropout(F.relu(self.linear1(tgt))))
        return self.norm3(tgt + self.dropout(tgt2))


class EncoderLayer(nn.Module):
    def __init__(self, d, h, ff=128, p=0.1):
        super().__init__()
        self.self_attn = nn.MultiheadAttention(d, h, dropout=p)
        self.linear1, self.linear2 = nn.Linear(d, ff), nn.Linear(ff, d)
        self.norm1, self.norm2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.dropout = nn.Dropout(p)

    def forward(self, src, pos):
        q = k = src + pos
        src = self.norm1(src + self.dropout(self.self_attn(q, k, value=src)[0]))
        return self.norm2(src + self.dropout(self.linear2(self.dropout(F.relu(self.linear1(src))))))


class MLP(nn.Module):
    def __init__(self, input_dim, hidden_dim, output_dim, num_layers):
        super().__init__()
        self.num_layers = num_layers
        h = [hidden_dim] * (num_layers - 1)
        self.layers = nn.ModuleList(nn.Linear(n, k) for n, k in zip([input_dim] + h, h + [output_dim]))

    def forward(self, x):
        for i, layer in enumerate(self.layers):
            x = F.relu(layer(x)) if i < self.num_layers - 1 else layer(x)
        return x


class DETR(nn.Module):
    def __init__(self, d=64, h=4, depth=2, num_queries=20, num_classes=11, aux_loss=True):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 32, 7, 4, 3), nn.BatchNorm2d(32), nn.ReLU(True), nn.Conv2d(32, 64, 3, 2, 1), nn.BatchNorm2d(64), nn.ReLU(True))
        self.input_proj = nn.Conv2d(64, d, 1)
        self.pos = PositionEmbeddingSine(d // 2)
        self.encoder = _get_clones(EncoderLayer(d, h), depth)
        self.decoder = _get_clones(DecoderLayer(d, h), depth)
        self.norm = nn.LayerNorm(d)
        self.query_embed = nn.Embedding(num_queries, d)
        self.class_embed = nn.Linear(d, num_classes + 1)
        self.bbox_embed = MLP(d, d, 4, 3)
        self.aux_loss = aux_loss
        self._reset_parameters()

    def _reset_parameters(self):
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.xavier_uniform_(p)

    def forward(self, images):
        src = self.body(images)
        pos = self.pos(src)
        src = self.input_proj(src).flatten(2).permute(2, 0, 1)
        pos = pos.flatten(2).permute(2, 0, 1)
        bs = src.shape[1]
        memory = src
        for layer in self.encoder:
            memory = layer(memory, pos)
        query_embed = self.query_embed.weight.unsqueeze(1).repeat(1, bs, 1)
        tgt = torch.zeros_like(query_embed)
        inter = []
        for layer in self.decoder:
            tgt = layer(tgt, memory, pos=pos, query_pos=query_embed)
            inter.append(self.norm(tgt))
        hs = torch.stack(inter).transpose(1, 2)
        outputs_class = self.class_embed(hs)
        outputs_coord = self.bbox_embed(hs).sigmoid()
        out = {"pred_logits": outputs_class[-1], "pred_boxes": outputs_coord[-1]}
        if self.aux_loss:
            out["aux_outputs"] = self._set_aux_loss(outputs_class, outputs_coord)
        return (out,)

    def _set_aux_loss(self, outputs_class, outputs_coord):
        return [{"pred_logits": a, "pred_boxes": b} for a, b in zip(outputs_class[:-1], outputs_coord[:-1])]


def loss_fn(out, labels):
    weight = torch.ones(12, device=labels.device)
    weight[-1] = 0.1
    losses = {}
    losses["loss_ce"] = F.cross_entropy(out["pred_logits"].transpose(1, 2), labels, weight)
    losses["loss_bbox"] = F.l1_loss(out["pred_boxes"], torch.full_like(out["pred_boxes"], 0.5), reduction="none").sum() / 20
    for i, aux in enumerate(out["aux_outputs"]):
        l_dict = {"ce": F.cross_entropy(aux["pred_logits"].transpose(1, 2), labels, weight), "bbox": F.l1_loss(aux["pred_boxes"], torch.zeros_like(aux["pred_boxes"]))}
        l_dict = {k + f"_{i}": v for k, v in l_dict.items()}
        losses.update(l_dict)
    weights = {"loss_ce": 1, "loss_bbox": 5}
    return sum(losses[k] * weights.get(k, 1) for k in losses.keys())
