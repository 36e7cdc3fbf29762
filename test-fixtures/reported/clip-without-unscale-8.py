# Two optimizers, one scaler: with AMP one has to pass 1e5 or 1e6 as threshold "rather than the common 1.0".
# https://github.com/victorchall/EveryDream2trainer/pull/175
import itertools

import torch
from torch.amp import GradScaler


class EveryDreamOptimizer:
    def __init__(self, args, text_encoder, unet):
        self.clip_grad_norm = args.clip_grad_norm
        self.text_encoder_params = text_encoder.parameters()
        self.unet_params = unet.parameters()
        self.optimizers = []
        self.optimizer_te = torch.optim.AdamW(itertools.chain(text_encoder.parameters()), lr=args.lr)
        self.optimizer_unet = torch.optim.AdamW(itertools.chain(unet.parameters()), lr=args.lr)
        self.scaler = GradScaler("cuda", enabled=True, init_scale=2**17.5)

    def step(self, loss, step, global_step):
        self.scaler.scale(loss).backward()
        if self.clip_grad_norm is not None:
            # expect-next: clip-without-unscale
            torch.nn.utils.clip_grad_norm_(parameters=self.unet_params, max_norm=self.clip_grad_norm)
            # expect-next: clip-without-unscale
            torch.nn.utils.clip_grad_norm_(parameters=self.text_encoder_params, max_norm=self.clip_grad_norm)
        self.scaler.step(self.optimizer_te)
        self.scaler.step(self.optimizer_unet)
        self.scaler.update()
        self.optimizer_te.zero_grad(set_to_none=True)
        self.optimizer_unet.zero_grad(set_to_none=True)


def train(args, text_encoder, unet, batches):
    text_encoder, unet = text_encoder.to("cuda"), unet.to("cuda")
    ed_optimizer = EveryDreamOptimizer(args, text_encoder, unet)
    for step, (tokens, latents, noise) in enumerate(batches):
        with torch.autocast("cuda"):
            loss = torch.nn.functional.mse_loss(unet(latents.cuda(), text_encoder(tokens.cuda())), noise.cuda())
        ed_optimizer.step(loss, step, step)
