/** Which role a canonical name, an annotation or a mere variable name stands for. */
import { lossModules, parameterFreeModules } from "./api";
import {
  frameworkObjects,
  isLoader,
  isOptimizer,
  isParametrisedLayer,
  isScaler,
  isScheduler,
  makesModel,
} from "./api-kinds";
import type { Call } from "../python/tree";
import type { Role } from "./resolve";

/**
 * Pipelines of Diffusers (`__call__` stands under `@torch.no_grad()`, diffusers/pipelines) and of Transformers (`forward`
 * enters `get_inference_context`, transformers/pipelines/base.py).
 */
const inferencePipeline =
  /^(diffusers(\.\w+)*\.\w*Pipeline\w*(\.from_\w+)?|transformers(\.\w+)*\.(pipeline|\w+Pipeline))$/;

/**
 * YOLOv5 from its repository or a copy of it: what takes paths and images decorates its `forward` with
 * `smart_inference_mode` or `torch.no_grad` (models/common.py, AutoShape).
 */
export function isDetectorOfHub({ positional, keywords }: Call, name: string): boolean {
  if (name !== "torch.hub.load") return false;
  const repository = positional[0] ?? keywords.find((one) => one.name.id === "repo_or_dir")?.value;
  return repository?.kind === "String" && /yolov5/i.test(repository.value ?? "");
}

/** The role of what a class or factory with this canonical name makes. */
export function roleOfConstructor(name: string): Role | undefined {
  if (isOptimizer(name)) return "optimizer";
  if (isScheduler(name)) return "scheduler";
  if (isLoader(name)) return "loader";
  if (isScaler(name)) return "scaler";
  if (lossModules.has(name)) return "loss-module";
  if (makesModel(name) || isParametrisedLayer(name)) return "model";
  if (frameworkObjects.has(name)) return "framework";
  if (/^torch\.utils\.data\.\w*(Dataset|Subset)$/.test(name)) return "dataset";
  if (
    /^transformers\.\w*(Tokenizer|TokenizerFast|Processor|FeatureExtractor)(\.from_pretrained)?$/.test(name)
  )
    return "tokenizer";
  if (inferencePipeline.test(name)) return "pipeline";
  if (/SummaryWriter$|^wandb\.init$|^logging\.getLogger$/.test(name)) return "logger";
  if (/^(torchmetrics|torcheval)\./.test(name)) return "meter";
  return undefined;
}

/** The role of what an annotation with this canonical name promises. */
export function roleOfAnnotation(name: string): Role | undefined {
  if (name === "torch.nn.Module" || name === "lightning.pytorch.LightningModule") return "model";
  if (name === "torch.optim.Optimizer") return "optimizer";
  if (name === "torch.Tensor" || /^torch\.\w+Tensor$/.test(name)) return "tensor";
  if (parameterFreeModules.has(name) && !lossModules.has(name)) return undefined;
  return roleOfConstructor(name);
}

const namedRoles: readonly (readonly [RegExp, Role])[] = [
  [
    /^(model|net|network|generator|discriminator|encoder|decoder|backbone|module|policy|actor|critic|[dg]_?net|net_?[dg]|unet|vae|gan)\d*$/i,
    "model",
  ],
  [/^\w+_(model|net|network|encoder|decoder)$|^(model|net)_[a-z0-9]+$/, "model"],
  [
    /^(criterion|loss_fn|loss_func|loss_function|criteria|loss_fct|crit)(_\w+)?$|^\w+_(criterion|loss_fn)$/i,
    "loss-module",
  ],
  [/^(optim|optimizer|optimiser)(_?\w+)?$|^\w+_(optim|optimizer|optimiser)$/i, "optimizer"],
  [/^(lr_)?sched(uler)?(_\w+)?$|^\w+_scheduler$/i, "scheduler"],
  [/(^|_)(data_?)?loaders?$|^(data_?)?loader(_\w+)?$|^\w+(_dl|Loader)$/i, "loader"],
  [/^(grad_)?scaler$|^amp_scaler$/i, "scaler"],
  [/^(accelerator|fabric)$/i, "framework"],
  [/tokenizer$|^processor$/i, "tokenizer"],
  [/(^|_)pipeline$/, "pipeline"],
  [/^(logger|writer|summary_writer|tb_writer)$/i, "logger"],
  [/(^|_)meters?$/i, "meter"],
];

/** What a variable called like this usually is. Evidence of the weakest kind. */
export function roleByName(name: string): Role | undefined {
  if (/^[A-Z][a-z]/.test(name)) return undefined;
  if (
    /(_?(name|path|dir|file|config|cfg|args|kwargs|state|dict|id|type|params|class|cls|fn|size|dim|url|ema_decay|output|outputs|lr))$/i.test(
      name,
    ) &&
    !/^(loss_fn|\w+_loss_fn)$/.test(name)
  ) {
    return undefined;
  }
  return namedRoles.find(([pattern]) => pattern.test(name))?.[1];
}
