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

/** True when the file imports another training framework and nothing of PyTorch's. */
export function usesOtherFramework(scopes: Scopes): boolean {
  const packages = new Set<string>();
  for (const bindings of scopes.module.bindings.values()) {
    for (const { importPath } of bindings) {
      if (importPath !== undefined) packages.add(importPath.split(".")[0] ?? "");
    }
  }
  for (const path of scopes.module.starImports) packages.add(path.split(".")[0] ?? "");
  const names = [...packages];
  if (!names.some((name) => otherFrameworks.has(name))) return false;
  return !names.some((name) => name.startsWith("torch") || torchLibraries.has(name));
}
