/** All tables of library functions and constants in one. */
import type { Interpreter } from "../interpreter";
import type { Native, Value } from "../values";
import { adapterConstants, adapterFunctions } from "./adapters";
import { argparseFunctions } from "./argparse";
import { arrayConstants, arrayFunctions } from "./arrays";
import { batchFunctions, datasetBases, samplerBases } from "./batches";
import { clickFunctions } from "./click";
import { tableFunctions } from "./data-tables";
import { configurationFunctions } from "./configuration-files";
import { dataclassFunctions } from "./dataclasses";
import { divergenceFunctions } from "./divergences";
import { einopsFunctions } from "./einops";
import { inspectionConstants, inspectionFunctions } from "./inspection";
import { imageDatasetFunctions } from "./image-datasets";
import { imageShapeFunctions } from "./image-functions";
import { imageFunctions } from "./images";
import { iterableFunctions } from "./iterables";
import { hydraFunctions } from "./hydra";
import { pathFunctions } from "./paths";
import { makeQuantisation } from "./quantised";
import { pretrainedFunctions } from "./pretrained";
import { forwardConstants, forwardFunctions } from "./pretrained-forward";
import { mathConstants, mathFunctions } from "./mathematics";
import { pictureFunctions } from "./pictures";
import { optimizerFunctions } from "./optimizers";
import { regularExpressionConstants, regularExpressionFunctions } from "./regular-expressions";
import { standardFunctions } from "./standard";
import { torchConstants, torchFunctions } from "./torch";
import { trainerFunctions } from "./trainers";

export { builtinDecorators } from "./standard";

export const functions: Readonly<Record<string, Native>> = {
  ...mathFunctions,
  ...iterableFunctions,
  ...standardFunctions,
  ...inspectionFunctions,
  ...regularExpressionFunctions,
  ...dataclassFunctions,
  ...argparseFunctions,
  ...clickFunctions,
  ...configurationFunctions,
  ...hydraFunctions,
  ...pathFunctions,
  ...einopsFunctions,
  ...arrayFunctions,
  ...batchFunctions,
  ...imageFunctions,
  ...imageShapeFunctions,
  ...imageDatasetFunctions,
  ...tableFunctions,
  ...pictureFunctions,
  ...pretrainedFunctions,
  ...forwardFunctions,
  ...trainerFunctions,
  ...adapterFunctions,
  ...divergenceFunctions,
  "transformers.BitsAndBytesConfig": makeQuantisation,
  ...torchFunctions,
  ...optimizerFunctions,
};

export const constants: Readonly<Record<string, (interpreter: Interpreter) => Value>> = {
  ...mathConstants,
  ...inspectionConstants,
  ...regularExpressionConstants,
  ...torchConstants,
  ...arrayConstants,
  ...adapterConstants,
  ...forwardConstants,
};

/** Packages taken to be installed: Python's own as far as scripts import them, and PyTorch with what comes along. */
export const knownPackages: ReadonlySet<string> = new Set(
  (
    "__future__ abc argparse array ast asyncio base64 bisect builtins collections concurrent contextlib copy csv ctypes " +
    "dataclasses datetime enum fractions functools gc glob gzip hashlib heapq importlib inspect io itertools json logging " +
    "math multiprocessing numbers operator os pathlib pickle platform pprint queue random re shutil signal socket stat " +
    "statistics string struct subprocess sys tempfile textwrap threading time traceback types typing typing_extensions " +
    "unittest urllib uuid warnings weakref zipfile numpy torch torchvision tqdm einops huggingface_hub safetensors " +
    "click yaml omegaconf hydra easydict munch addict yacs"
  ).split(" "),
);

/** Libraries whose models are read from their sources where they are installed. */
export const modelLibraries: ReadonlySet<string> = new Set(
  (
    "torchvision timm transformers diffusers segmentation_models_pytorch efficientnet_pytorch pretrainedmodels open_clip " +
    "monai torchaudio"
  ).split(" "),
);

/** Classes of other libraries that are `nn.Module`s without parameters of their own. */
export const moduleBases: ReadonlySet<string> = new Set(["torch.jit.ScriptModule"]);

/** Bases that add nothing to a class's instances. */
export const transparentBases: ReadonlySet<string> = new Set([
  "abc.ABC",
  "typing.Generic",
  "typing.Protocol",
  "typing_extensions.Protocol",
  "huggingface_hub.PyTorchModelHubMixin",
  "transformers.GenerationMixin",
  "transformers.generation.GenerationMixin",
  ...datasetBases,
  ...samplerBases,
]);
