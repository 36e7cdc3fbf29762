/** Which class or factory makes which kind of object: models, optimizers, loaders, … */
import { parameterFreeModules } from "./api";
import { words } from "./api-words";

/** Factories of trainable models outside `torch.nn`: a call whose canonical name matches makes a model. */
const modelFactoryPatterns: readonly RegExp[] = [
  /^torchvision\.models(\.[a-z_0-9]+)*\.[A-Za-z_0-9]+$/,
  /^timm\.create_model$/,
  /^timm\.models(\.[a-z_0-9]+)*\.create_model$/,
  /^timm\.models\.[a-z_0-9]+$/,
  /^torch\.hub\.load$/,
  /^segmentation_models_pytorch\.[A-Z][A-Za-z]+$/,
  /^smp\.[A-Z][A-Za-z]+$/,
  /^efficientnet_pytorch\.EfficientNet\.(from_pretrained|from_name)$/,
  /^(open_clip|clip)\.(create_model|load)$/,
  /^torchaudio\.models\.[A-Za-z_0-9]+$/,
  /^torch_geometric\.nn(\.models)?\.(GCN|GAT|GIN|GraphSAGE|PNA|MLP|EdgeCNN)$/,
  /^diffusers\.[A-Za-z0-9]*(Model|Transformer2DModel|AutoencoderKL)(\.from_pretrained|\.from_config)?$/,
  /^sentence_transformers\.CrossEncoder$/,
  /^monai\.networks\.nets\.[A-Za-z0-9]+$/,
];

const transformersModel =
  /^transformers(\.models\.[a-z_0-9.]+)?\.(AutoModel[A-Za-z0-9]*|[A-Z][A-Za-z0-9]*(Model|For[A-Z][A-Za-z0-9]*|HeadModel|LMHead))(\.from_pretrained|\.from_config|\._from_config)?$/;

/** True when a call of this canonical name gives a model whose parameters require gradients. */
export function makesModel(qualifiedName: string): boolean {
  if (transformersModel.test(qualifiedName)) {
    return (
      !/\.(TF|Flax)[A-Z]/.test(qualifiedName) &&
      !/(Tokenizer|Processor|Config|ForImageProcessing)/.test(qualifiedName)
    );
  }
  if (
    /^torchvision\.models\..*(_Weights|get_weight|list_models|get_model_weights|IntermediateLayerGetter)/.test(
      qualifiedName,
    )
  )
    return false;
  return modelFactoryPatterns.some((pattern) => pattern.test(qualifiedName));
}

/** `torch.nn` classes that are models or layers with parameters (containers count: what they hold has some). */
export function isParametrisedLayer(qualifiedName: string): boolean {
  return (
    /^torch\.nn\.[A-Z][A-Za-z0-9]*$/.test(qualifiedName) &&
    !parameterFreeModules.has(qualifiedName) &&
    !notLayers.has(qualifiedName)
  );
}

const notLayers: ReadonlySet<string> = new Set([
  "torch.nn.Parameter",
  "torch.nn.Buffer",
  "torch.nn.Module",
  "torch.nn.UninitializedParameter",
  "torch.nn.ParameterList",
  "torch.nn.ParameterDict",
]);

/** Base classes that make a class of this file a `torch.nn.Module`. */
export function isModuleBase(qualifiedName: string): boolean {
  if (/^torch\.nn\.[A-Z][A-Za-z0-9]*$/.test(qualifiedName)) return qualifiedName !== "torch.nn.Parameter";
  if (/^lightning\.pytorch\.LightningModule$/.test(qualifiedName)) return true;
  if (/^transformers(\.[a-z_0-9]+)*\.[A-Z][A-Za-z0-9]*(Model|For[A-Z][A-Za-z0-9]*)$/.test(qualifiedName))
    return !/\.(TF|Flax)/.test(qualifiedName);
  if (/^torchvision\.models(\.[a-z_0-9]+)*\.[A-Z][A-Za-z0-9]*$/.test(qualifiedName))
    return !/Weights/.test(qualifiedName);
  if (/^\.+([a-z_0-9.]+\.)?(PreTrainedModel|ModelMixin)$/.test(qualifiedName)) return true;
  return modulesElsewhere.has(qualifiedName);
}

const modulesElsewhere: ReadonlySet<string> = new Set([
  "torch_geometric.nn.MessagePassing",
  "torch.jit.ScriptModule",
  "diffusers.ModelMixin",
  "huggingface_hub.PyTorchModelHubMixin",
]);

export const lightningModule = "lightning.pytorch.LightningModule";

/** Methods that Lightning calls with gradients already turned off. */
export const frameworkNoGradHooks: ReadonlySet<string> = words(`
    validation_step test_step predict_step validation_epoch_end test_epoch_end
    on_validation_epoch_end on_test_epoch_end on_validation_epoch_start on_test_epoch_start
    on_validation_batch_end on_test_batch_end on_validation_end on_validation_start
    on_predict_epoch_end on_sanity_check_end prediction_step`);

/** Canonical optimizers outside `torch.optim` that `isOptimizer` knows. */
const optimizersElsewhere =
  /^(torch\.distributed\.optim\.(\w+\.)*ZeroRedundancyOptimizer|transformers\.(AdamW|Adafactor)|apex\.optimizers\.\w+|bitsandbytes\.optim\.\w+|deepspeed\.ops\.(adam|lamb|lion)\.\w+|timm\.optim\.\w+|torch_optimizer\.\w+|pytorch_optimizer\.\w+|lion_pytorch\.Lion|adabelief_pytorch\.AdaBelief|radam\.RAdam|madgrad\.MADGRAD|prodigyopt\.Prodigy|dadaptation\.\w+|schedulefree\.\w+|adamp\.\w+)$/;

export function isOptimizer(qualifiedName: string): boolean {
  if (/^torch\.optim\.[A-Z][A-Za-z]*$/.test(qualifiedName)) return qualifiedName !== "torch.optim.Optimizer";
  return optimizersElsewhere.test(qualifiedName) && !/Scheduler/.test(qualifiedName);
}

export function isScheduler(qualifiedName: string): boolean {
  if (/^torch\.optim\.lr_scheduler\.[A-Z]\w*$/.test(qualifiedName)) return true;
  if (/^transformers\.get_\w*(schedule|scheduler)\w*$/.test(qualifiedName)) return true;
  if (/^diffusers\.optimization\.get_\w*schedule\w*$/.test(qualifiedName)) return true;
  return /^(timm\.scheduler(\.\w+)*\.\w+|diffusers\.optimization\.get_scheduler)$/.test(qualifiedName);
}

export function isLoader(qualifiedName: string): boolean {
  return (
    /^torch\.utils\.data\.DataLoader$/.test(qualifiedName) ||
    /^torch_geometric\.(loader|data)\.(DataLoader|NeighborLoader|ClusterLoader|DataListLoader|LinkNeighborLoader)$/.test(
      qualifiedName,
    ) ||
    /^(torchdata\.\w+(\.\w+)*\.StatefulDataLoader|dgl\.dataloading\.\w*DataLoader|monai\.data\.DataLoader)$/.test(
      qualifiedName,
    )
  );
}

export function isScaler(qualifiedName: string): boolean {
  return (
    /^torch\.(cuda\.amp|amp|cpu\.amp)\.GradScaler$/.test(qualifiedName) ||
    /\.ShardedGradScaler$/.test(qualifiedName)
  );
}

export const frameworkObjects: ReadonlySet<string> = new Set([
  "accelerate.Accelerator",
  "lightning.fabric.Fabric",
  "lightning.pytorch.Trainer",
  "transformers.Trainer",
  "transformers.Seq2SeqTrainer",
]);
