/**
 * PyTorch's names as data: what each call does to the autograd graph, and under which other names it is known. Names
 * are those of the public documentation (PyTorch 2.x); older aliases are folded by `canonicalName`.
 */
import { words } from "./api-words";

/** Where a module's contents are really re-exported from a shorter path: longest prefix wins. */
const modulePrefixes: readonly (readonly [string, string])[] = [
  ["torch.nn.modules.loss.", "torch.nn."],
  ["torch.nn.modules.module.", "torch.nn."],
  ["torch.nn.modules.container.", "torch.nn."],
  ["torch.nn.modules.linear.", "torch.nn."],
  ["torch.nn.modules.conv.", "torch.nn."],
  ["torch.nn.modules.rnn.", "torch.nn."],
  ["torch.nn.modules.batchnorm.", "torch.nn."],
  ["torch.nn.modules.normalization.", "torch.nn."],
  ["torch.nn.modules.activation.", "torch.nn."],
  ["torch.nn.modules.dropout.", "torch.nn."],
  ["torch.nn.modules.sparse.", "torch.nn."],
  ["torch.nn.modules.transformer.", "torch.nn."],
  ["torch.nn.modules.", "torch.nn."],
  ["torch.nn.parameter.", "torch.nn."],
  ["torch.nn.parallel.distributed.", "torch.nn.parallel."],
  ["torch.nn.parallel.data_parallel.", "torch.nn.parallel."],
  ["torch.optim.adam.", "torch.optim."],
  ["torch.optim.adamw.", "torch.optim."],
  ["torch.optim.adamax.", "torch.optim."],
  ["torch.optim.adagrad.", "torch.optim."],
  ["torch.optim.adadelta.", "torch.optim."],
  ["torch.optim.asgd.", "torch.optim."],
  ["torch.optim.lbfgs.", "torch.optim."],
  ["torch.optim.nadam.", "torch.optim."],
  ["torch.optim.radam.", "torch.optim."],
  ["torch.optim.rmsprop.", "torch.optim."],
  ["torch.optim.rprop.", "torch.optim."],
  ["torch.optim.sgd.", "torch.optim."],
  ["torch.optim.sparse_adam.", "torch.optim."],
  ["torch.optim.optimizer.", "torch.optim."],
  ["torch.utils.data.dataloader.", "torch.utils.data."],
  ["torch.utils.data.dataset.", "torch.utils.data."],
  ["torch.utils.data.sampler.", "torch.utils.data."],
  ["torch.utils.data.distributed.", "torch.utils.data."],
  ["torch.autograd.grad_mode.", "torch."],
  ["torch.autograd.variable.", "torch.autograd."],
  ["torch.amp.autocast_mode.", "torch.amp."],
  ["torch.amp.grad_scaler.", "torch.amp."],
  ["torch.cuda.amp.autocast_mode.", "torch.cuda.amp."],
  ["torch.cuda.amp.grad_scaler.", "torch.cuda.amp."],
  ["torch.cuda.memory.", "torch.cuda."],
  ["torch.cuda.random.", "torch.cuda."],
  ["torch.functional.", "torch."],
  ["torch._tensor.", "torch."],
  ["torch.tensor.", "torch."],
  ["pytorch_lightning.core.lightning.", "lightning.pytorch."],
  ["pytorch_lightning.core.", "lightning.pytorch."],
  ["pytorch_lightning.", "lightning.pytorch."],
  ["lightning.pytorch.core.", "lightning.pytorch."],
  ["lightning_fabric.", "lightning.fabric."],
  ["accelerate.accelerator.", "accelerate."],
  ["torchvision.models.resnet.", "torchvision.models."],
  ["transformers.optimization.", "transformers."],
  ["transformers.trainer.", "transformers."],
];

/** Single names with a second address. */
const sameName: Readonly<Record<string, string>> = {
  "torch.autograd.no_grad": "torch.no_grad",
  "torch.autograd.enable_grad": "torch.enable_grad",
  "torch.autograd.set_grad_enabled": "torch.set_grad_enabled",
  "torch.autograd.inference_mode": "torch.inference_mode",
  "torch.autograd.Variable": "torch.autograd.Variable",
  "torch.autocast": "torch.amp.autocast",
  "torch.nn.parallel.DataParallel": "torch.nn.DataParallel",
  "torch.optim.lr_scheduler._LRScheduler": "torch.optim.lr_scheduler.LRScheduler",
  "lightning.LightningModule": "lightning.pytorch.LightningModule",
  "lightning.Trainer": "lightning.pytorch.Trainer",
  "lightning.LightningDataModule": "lightning.pytorch.LightningDataModule",
  "lightning.Callback": "lightning.pytorch.Callback",
  "lightning.Fabric": "lightning.fabric.Fabric",
  "lightning.pytorch.module.LightningModule": "lightning.pytorch.LightningModule",
  "torch.nn.init.xavier_uniform": "torch.nn.init.xavier_uniform_",
};

const canonical = new Map<string, string>();

/**
 * The name under which the tables here know an API. Names that are canonical already, or unknown, come back as they
 * are.
 */
export function canonicalName(name: string): string {
  const known = canonical.get(name);
  if (known !== undefined) return known;
  const own = copyOf(name);
  let result = own;
  for (const [prefix, replacement] of modulePrefixes) {
    if (!result.startsWith(prefix)) continue;
    const rest = result.slice(prefix.length);
    // A lower-case remainder with dots would be a submodule that the prefix merely happens to begin like.
    result = replacement + lastSegmentAfterSubmodule(prefix, rest);
    break;
  }
  result = sameName[result] ?? result;
  if (canonical.size > 20000) canonical.clear();
  canonical.set(own, result);
  return result;
}

/** A name is cut out of a file's text, and the engine keeps that text for as long as the piece lives: a copy does not. */
function copyOf(name: string): string {
  return ` ${name}`.slice(1);
}

function lastSegmentAfterSubmodule(prefix: string, rest: string): string {
  // `torch.nn.modules.<file>.Name` without an entry of its own: the file's name goes too.
  if (prefix === "torch.nn.modules." && rest.includes(".")) return rest.slice(rest.indexOf(".") + 1);
  return rest;
}

/** Context managers (and decorators) that turn gradients off for what runs inside. */
export const noGradContexts: ReadonlySet<string> = new Set(["torch.no_grad", "torch.inference_mode"]);

export const enableGradContext = "torch.enable_grad";
export const setGradEnabled = "torch.set_grad_enabled";

export const autocastContexts: ReadonlySet<string> = new Set([
  "torch.amp.autocast",
  "torch.cuda.amp.autocast",
  "torch.cpu.amp.autocast",
]);

/** Classes whose instances compute a loss. */
export const lossModules: ReadonlySet<string> = words(
  `
    L1Loss NLLLoss NLLLoss2d PoissonNLLLoss GaussianNLLLoss KLDivLoss MSELoss BCELoss
    BCEWithLogitsLoss HingeEmbeddingLoss MultiLabelMarginLoss SmoothL1Loss HuberLoss SoftMarginLoss
    CrossEntropyLoss MultiLabelSoftMarginLoss CosineEmbeddingLoss MarginRankingLoss MultiMarginLoss
    TripletMarginLoss TripletMarginWithDistanceLoss CTCLoss LinearCrossEntropyLoss`,
  "torch.nn.",
);

/** Functions that compute a loss; the result carries the graph of the first argument. */
export const lossFunctions: ReadonlySet<string> = words(
  `
    binary_cross_entropy binary_cross_entropy_with_logits poisson_nll_loss cosine_embedding_loss
    cross_entropy ctc_loss gaussian_nll_loss hinge_embedding_loss kl_div l1_loss mse_loss
    margin_ranking_loss multilabel_margin_loss multilabel_soft_margin_loss multi_margin_loss
    nll_loss nll_loss2d huber_loss smooth_l1_loss soft_margin_loss triplet_margin_loss
    triplet_margin_with_distance_loss linear_cross_entropy`,
  "torch.nn.functional.",
);

/** `torch.nn` classes without parameters of their own. */
export const parameterFreeModules: ReadonlySet<string> = new Set(
  [
    ...[...lossModules].map((name) => name.slice("torch.nn.".length)),
    ...words(`
    Identity Flatten Unflatten ReLU ReLU6 LeakyReLU GELU SiLU Mish ELU SELU CELU Sigmoid
    LogSigmoid Tanh Softmax LogSoftmax Softmax2d Softplus Softsign Hardtanh Hardswish
    Hardsigmoid Hardshrink Softshrink Tanhshrink Threshold GLU RReLU Softmin Dropout Dropout1d
    Dropout2d Dropout3d AlphaDropout FeatureAlphaDropout MaxPool1d MaxPool2d MaxPool3d AvgPool1d
    AvgPool2d AvgPool3d LPPool1d LPPool2d AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d
    AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d MaxUnpool1d MaxUnpool2d MaxUnpool3d
    FractionalMaxPool2d FractionalMaxPool3d Upsample UpsamplingNearest2d UpsamplingBilinear2d
    PixelShuffle PixelUnshuffle ChannelShuffle ZeroPad1d ZeroPad2d ZeroPad3d ConstantPad1d
    ConstantPad2d ConstantPad3d ReflectionPad1d ReflectionPad2d ReflectionPad3d ReplicationPad1d
    ReplicationPad2d ReplicationPad3d CosineSimilarity PairwiseDistance Fold Unfold`),
  ].map((name) => `torch.nn.${name}`),
);

/** Classes that hold models and keep their role: `DataParallel(model)` is the model. First argument is the model. */
export const modelWrappers: ReadonlySet<string> = words(`
    torch.nn.DataParallel torch.nn.parallel.DistributedDataParallel
    torch.distributed.fsdp.FullyShardedDataParallel torch.distributed.fsdp.fully_shard
    torch.distributed._composable.fsdp.fully_shard torch.compile torch.jit.script
    torch.nn.SyncBatchNorm.convert_sync_batchnorm torch.nn.utils.parametrizations.weight_norm
    torch.nn.utils.spectral_norm torch.nn.utils.weight_norm copy.deepcopy copy.copy
    apex.parallel.DistributedDataParallel apex.parallel.convert_syncbn_model
    fairscale.nn.FullyShardedDataParallel fairscale.nn.data_parallel.ShardedDataParallel
    peft.get_peft_model peft.prepare_model_for_kbit_training peft.prepare_model_for_int8_training`);

/** Methods that hand back the object they are called on (or one in the same role). */
export const roleKeepingMethods: ReadonlySet<string> = words(`
    to cuda cpu half float double bfloat16 train eval requires_grad_ type apply to_empty xpu mps npu
    share_memory`);
