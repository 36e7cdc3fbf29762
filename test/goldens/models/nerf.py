# vram: device=8GiB, budget=4GiB, optimizer=adam, precision=fp32, batch=64, input=float32[B,6], target=float32[B,3], loss=mse, model=NeRF()
import torch, torch.nn as nn, torch.nn.functional as F
class Embedder:
    def __init__(self, input_dims=3, max_freq_log2=9, num_freqs=10):
        embed_fns = [lambda x: x]
        out_dim = input_dims
        freq_bands = 2. ** torch.linspace(0., max_freq_log2, steps=num_freqs)
        for freq in freq_bands:
            for p_fn in [torch.sin, torch.cos]:
                embed_fns.append(lambda x, p_fn=p_fn, freq=freq: p_fn(x * freq))
                out_dim += input_dims
        self.embed_fns, self.out_dim = embed_fns, out_dim
    def embed(self, inputs):
        return torch.cat([fn(inputs) for fn in self.embed_fns], -1)
class NeRF(nn.Module):
    def __init__(self, D=4, W=64, skips=[2], n_samples=8):
        super().__init__()
        self.ep, self.ed = Embedder(num_freqs=6, max_freq_log2=5), Embedder(num_freqs=4, max_freq_log2=3)
        ic, icv = self.ep.out_dim, self.ed.out_dim
        self.skips, self.n = skips, n_samples
        self.pts_linears = nn.ModuleList([nn.Linear(ic, W)] + [nn.Linear(W, W) if i not in skips else nn.Linear(W + ic, W) for i in range(D - 1)])
        self.views_linears = nn.ModuleList([nn.Linear(icv + W, W // 2)])
        self.feature_linear, self.alpha_linear, self.rgb_linear = nn.Linear(W, W), nn.Linear(W, 1), nn.Linear(W // 2, 3)
    def query(self, pts, dirs):
        e, v = self.ep.embed(pts), self.ed.embed(dirs)
        h = e
        for i, l in enumerate(self.pts_linears):
            h = F.relu(l(h))
            if i in self.skips:
                h = torch.cat([e, h], -1)
        alpha = self.alpha_linear(h)
        h = torch.cat([self.feature_linear(h), v], -1)
        for l in self.views_linears:
            h = F.relu(l(h))
        return self.rgb_linear(h), alpha
    def forward(self, rays):
        o, d = rays[..., :3], rays[..., 3:]
        t = torch.linspace(0., 1., self.n, device=rays.device)
        z = 2. * (1. - t) + 6. * t
        z = z.expand(rays.shape[0], self.n)
        mids = .5 * (z[..., 1:] + z[..., :-1])
        upper = torch.cat([mids, z[..., -1:]], -1)
        lower = torch.cat([z[..., :1], mids], -1)
        z = lower + (upper - lower) * torch.rand(z.shape, device=z.device)
        pts = o[..., None, :] + d[..., None, :] * z[..., :, None]
        dirs = d[:, None].expand(pts.shape)
        rgb, sigma = self.query(pts.reshape(-1, 3), dirs.reshape(-1, 3))
        rgb = torch.sigmoid(rgb).view(*pts.shape)
        sigma = F.relu(sigma).view(pts.shape[:-1])
        dists = z[..., 1:] - z[..., :-1]
        dists = torch.cat([dists, torch.full_like(dists[..., :1], 1e10)], -1)
        alpha = 1. - torch.exp(-sigma * dists)
        w = alpha * torch.cumprod(torch.cat([torch.ones((alpha.shape[0], 1), device=alpha.device), 1. - alpha + 1e-10], -1), -1)[:, :-1]
        return torch.sum(w[..., None] * rgb, -2)
