#!/usr/bin/env python3
"""Figures of ops_more.json: expressions as people write them, measured as measure_ops.py does.

    python measure_ops_more.py > ops_more.json          # any PyTorch, CPU dispatch on fake tensors
"""
import warnings

import measure_ops
from generate import dump
from measure_ops import HEADS, IMG, ROW, SEQ

OPS = [
    ("rope complex",None,"torch.view_as_real(torch.view_as_complex(a.reshape(2, 64, 2, 16, 2)) * torch.view_as_complex(b.detach()).view(1, 64, 1, 16)).flatten(3)",["float32[2,64,2,32]","float32[64,16,2]"]),
    ("rotate half",None,"a * b.detach() + torch.cat((-a[..., 16:], a[..., :16]), dim=-1) * b.detach()",[HEADS,"float32[64,32]"]),
    ("tensordot",None,"torch.tensordot(a, b, dims=1)",[SEQ,"float32[16,8]"]),
    ("F.layer_norm functional",None,"F.layer_norm(a, (16,), b, c)",[SEQ,"float32[16]","float32[16]"]),
    ("F.gelu residual",None,"a + F.gelu(a)",[IMG]),
    ("x.mean keepdim gate",None,"a * torch.sigmoid(a.mean((2, 3), keepdim=True))",[IMG]),
    ("einsum bhwc,hkc->bhwk",None,"torch.einsum('bhwc,hkc->bhwk', a, b)",["float32[2,4,5,8]","float32[4,6,8]"]),
    ("einsum outer",None,"torch.einsum('i,j->ij', a, b)",["float32[16]","float32[8]"]),
    ("einsum bi,ij,bj->b",None,"torch.einsum('bi,ij,bj->b', a, b, c)",["float32[2,16]","float32[16,8]","float32[2,8]"]),
    ("einsum sum",None,"torch.einsum('bij->bi', a)",[SEQ]),
    ("matmul 2-D by 3-D",None,"a @ b",["float32[4,16]","float32[2,16,8]"]),
    ("matmul mv",None,"a @ b",["float32[4,16]","float32[16]"]),
    ("matmul 4-D by 2-D",None,"a @ b",[HEADS,"float32[32,8]"]),
    ("matmul broadcast batch",None,"a @ b",["float32[2,2,4,16]","float32[1,2,16,8]"]),
    ("Linear 4-D","nn.Linear(16, 8)","m(a)",["float32[2,3,4,16]"]),
    ("index put",None,"torch.zeros(2, 16).index_add(1, b, a)",["float32[2,4]","int64[4]<16"]),
    ("setitem slice",None,"(lambda y: (y.__setitem__((slice(None), slice(0, 4)), a), y)[1])(torch.zeros(2, 16))",["float32[2,4]"]),
    ("in-place on a slice",None,"(lambda y: (y[:, :4].mul_(2.0), y)[1])(a + 0)",[ROW]),
    ("masked mean",None,"(a * b).sum(1) / b.sum(1)",[SEQ,"float32[2,4,1]"]),
    ("softmax of masked",None,"(a.masked_fill(b, float('-inf'))).softmax(-1)",["float32[2,2,64,64]","bool[64,64]"]),
    ("x * sigmoid(x)",None,"a * torch.sigmoid(a)",[IMG]),
    ("stack mean",None,"torch.stack([a, b]).mean(0)",[IMG,IMG]),
    ("chunk two uses",None,"(lambda p: p[0] * p[1].sigmoid())(a.chunk(2, 1))",[IMG]),
    ("window partition",None,"a.view(2, 8, 4, 4, 4, 4).permute(0, 2, 4, 3, 5, 1).contiguous().view(-1, 16, 8)",[IMG]),
    ("log_softmax gather",None,"F.log_softmax(a, -1).gather(1, b)",[ROW,"int64[2,4]<16"]),
    ("kl vae",None,"-0.5 * torch.sum(1 + a - b.pow(2) - a.exp())",[ROW,ROW]),
    ("reparameterise",None,"b + torch.randn_like(a) * torch.exp(0.5 * a)",[ROW,ROW]),
    ("F.mse none mean",None,"F.mse_loss(a, b, reduction='none').mean()",[IMG,IMG]),
    ("cross entropy weight",None,"F.cross_entropy(a, b, weight=torch.ones(10))",["float32[4,10]","int64[4]<10"]),
    ("cross entropy 3-D",None,"F.cross_entropy(a, b)",["float32[2,10,16]","int64[2,16]<10"]),
    ("dice",None,"1 - (2 * (a.sigmoid() * b.detach()).sum() + 1) / (a.sigmoid().sum() + b.detach().sum() + 1)",[IMG,IMG]),
    ("focal",None,"((1 - torch.exp(-F.cross_entropy(a, b, reduction='none'))) ** 2 * F.cross_entropy(a, b, reduction='none')).mean()",["float32[4,10]","int64[4]<10"]),
    ("contrastive",None,"F.cross_entropy(F.normalize(a, dim=-1) @ F.normalize(b, dim=-1).t() / 0.07, torch.arange(8))",["float32[8,16]","float32[8,16]"]),
    ("grad clip norm",None,"torch.norm(torch.stack([torch.norm(a), torch.norm(b)]))",[ROW,ROW]),
    ("Conv2d channels-last by permute","nn.Conv2d(8, 12, 3, padding=1)","m(a.permute(0, 3, 1, 2))",["float32[2,16,16,8]"]),
    ("Conv2d on 3-D","nn.Conv2d(8, 12, 3)","m(a)",["float32[8,16,16]"]),
    ("BatchNorm2d of permuted","nn.BatchNorm2d(8)","m(a.permute(0, 3, 1, 2))",["float32[2,16,16,8]"]),
    ("MaxPool + Upsample + cat",None,"torch.cat([a, F.interpolate(F.max_pool2d(a, 2), scale_factor=2)], 1)",[IMG]),
    ("adaptive pool flatten",None,"F.adaptive_avg_pool2d(a, 1).flatten(1)",[IMG]),
    ("F.conv2d functional",None,"F.conv2d(a, b, padding=1)",[IMG,"float32[12,8,3,3]"]),
    ("weight standardisation",None,"F.conv2d(a, (b - b.mean((1, 2, 3), keepdim=True)) / (b.std((1, 2, 3), keepdim=True) + 1e-5), padding=1)",[IMG,"float32[12,8,3,3]"]),
    ("TransformerEncoderLayer with mask","nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)","m(a, src_mask=b)",["float32[2,64,16]","bool[64,64]"]),
    ("TransformerEncoderLayer key padding","nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)","m(a, src_key_padding_mask=b)",["float32[2,64,16]","bool[2,64]"]),
    ("MultiheadAttention sequence first","nn.MultiheadAttention(16, 2)","m(a, a, a, need_weights=False)[0]",["float32[64,2,16]"]),
    ("Transformer","nn.Transformer(16, 2, 1, 1, 32, batch_first=True)","m(a, b)",["float32[2,64,16]","float32[2,32,16]"]),
    ("GRU 2 layers bidirectional","nn.GRU(16, 24, 2, bidirectional=True)","m(a)[0]",["float32[5,2,16]"]),
    ("RNNCell","nn.RNNCell(16, 24)","m(a, b)",[ROW,"float32[2,24]"]),
    ("LSTMCell with state","nn.LSTMCell(16, 24)","m(a, (b, c))[0]",[ROW,"float32[2,24]","float32[2,24]"]),
    ("GroupNorm 1","nn.GroupNorm(1, 8)","m(a)",[IMG]),
    ("Softmax2d","nn.Softmax2d()","m(a)",[IMG]),
    ("Threshold","nn.Threshold(0.1, 0.0)","m(a)",[IMG]),
    ("Hardshrink","nn.Hardshrink()","m(a)",[IMG]),
    ("ConstantPad1d","nn.ConstantPad1d((3, 0), 0.0)","m(a)",["float32[2,8,16]"]),
    ("Unflatten","nn.Unflatten(1, (2, 4))","m(a)",[IMG]),
    ("diff",None,"a[:, 1:] - a[:, :-1]",[IMG]),
    ("tv loss",None,"(a[:, :, 1:] - a[:, :, :-1]).abs().mean() + (a[:, :, :, 1:] - a[:, :, :, :-1]).abs().mean()",[IMG]),
    ("var_mean norm",None,"(a - a.mean(-1, keepdim=True)) / torch.sqrt(a.var(-1, keepdim=True, unbiased=False) + 1e-5)",[SEQ]),
    ("rms by hand",None,"b * (a * torch.rsqrt(a.pow(2).mean(-1, keepdim=True) + 1e-6))",[SEQ,"float32[16]"]),
    ("new_gelu",None,"0.5 * a * (1.0 + torch.tanh(0.79788456 * (a + 0.044715 * torch.pow(a, 3.0))))",[SEQ]),
    ("alibi",None,"(a @ b.transpose(-1, -2) + c.detach()).softmax(-1) @ b",[HEADS,HEADS,"float32[2,64,64]"]),
    ("swapaxes movedim",None,"a.swapaxes(1, 2).movedim(0, -1).contiguous()",[IMG]),
    ("roll windows",None,"torch.roll(a, -2, 1) + a",[IMG]),
    ("logsumexp loss",None,"torch.logsumexp(a, -1).mean()",[ROW]),
    ("cumsum softmax",None,"a.softmax(-1).cumsum(-1)",[ROW]),
    ("pixel norm",None,"a / torch.sqrt(torch.mean(a ** 2, dim=1, keepdim=True) + 1e-8)",[IMG]),
    ("minimum clamp",None,"torch.minimum(a, b).clamp_(max=1.0)",[IMG,IMG]),
    ("abs_ relu_ chain",None,"(a * 2).relu_().add_(1.0).mul_(3.0)",[IMG]),
    ("unfold view",None,"a.unfold(2, 4, 4).unfold(3, 4, 4).contiguous()",[IMG]),
]


def main() -> None:
    warnings.filterwarnings("ignore")
    measure_ops.OPS = OPS
    report = measure_ops.run_all("fake-cpu")
    ops = []
    for name, entry in report["ops"].items():
        row = {"name": name, "setup": entry["setup"], "call": entry["call"], "inputs": entry["inputs"]}
        row.update({f"cpu {mode}": entry[mode] for mode in ("grad", "frozen", "first") if mode in entry})
        ops.append(row)
    about = {"what": "as ops.json, further expressions as people write them; CPU dispatch only", "cpu_torch": report["torch"]}
    print(dump({"about": about, "ops": ops}, depth=3))


if __name__ == "__main__":
    main()
