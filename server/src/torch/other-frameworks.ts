/** Files that train with another library than PyTorch: the same words (`backward`, `step`, `no_grad`) mean other things there. */
import type { Scopes } from "../python/scope";
import { words } from "./api-words";

const otherFrameworks: ReadonlySet<string> = words(`
    mxnet gluonnlp gluoncv autogluon tensorflow keras tf_keras jax flax haiku optax paddle mindspore oneflow chainer
    tinygrad megengine jittor mlx theano lasagne cntk caffe`);

/** What only makes sense beside PyTorch; whatever starts with `torch` counts too. */
const torchLibraries: ReadonlySet<string> = words(`
    pytorch_lightning lightning lightning_fabric accelerate transformers diffusers deepspeed fastai ignite peft trl timm
    monai fairseq pytorch3d pyro kornia apex xformers bitsandbytes unsloth catalyst skorch composer colossalai megatron`);

/** Pictures are prepared with these for other frameworks too. */
const preparation = /^torchvision\.(transforms|datasets)(\.|$)/;

/** True when the file imports another training framework and nothing of PyTorch's. */
export function usesOtherFramework(scopes: Scopes): boolean {
  const paths = [...scopes.module.starImports];
  for (const bindings of scopes.module.bindings.values()) {
    for (const { importPath } of bindings) if (importPath !== undefined) paths.push(importPath);
  }
  const names = paths.filter((path) => !preparation.test(path)).map((path) => path.split(".")[0] ?? "");
  if (!names.some((name) => otherFrameworks.has(name))) return false;
  return !names.some((name) => name.startsWith("torch") || torchLibraries.has(name));
}
