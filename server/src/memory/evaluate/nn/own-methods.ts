/** Methods that single classes of `torch.nn` have besides those of `Module`. */
import { Tensor } from "../../tensor";
import { isUnknown } from "../../unknown";
import { CallArguments } from "../arguments";
import { callOperator, runOperator } from "../bridge";
import {
  Float,
  MethodWrapper,
  NativeFunction,
  ObjectValue,
  TupleValue,
  type Native,
  type Value,
} from "../values";

function classMethod(name: string, run: Native): MethodWrapper {
  return new MethodWrapper("class", new NativeFunction(name, run));
}

function staticMethod(name: string, run: Native): MethodWrapper {
  return new MethodWrapper("static", new NativeFunction(name, run));
}

/** `Embedding.from_pretrained(weight, freeze=True, …)`: a layer on the tensor that is given. */
const fromPretrained: Native = (interpreter, args, span) => {
  const [type = null, weight] = [args.at(0), args.get(1, "embeddings")];
  if (!(weight instanceof Tensor))
    return isUnknown(weight) ? weight : interpreter.unknown("call", span, { name: "from_pretrained" });
  const [rows = 0, width = 0] = weight.shape;
  const given = new Map<string, Value>(args.keywords);
  const names = ["padding_idx", "max_norm", "norm_type", "scale_grad_by_freq", "sparse"];
  names.forEach((name, i) => {
    const value = args.at(i + 3);
    if (value !== undefined) given.set(name, value);
  });
  given.delete("embeddings");
  given.delete("freeze");
  given.set("_weight", weight);
  const layer = interpreter.call(type, new CallArguments([rows, width], given), span);
  if (layer instanceof ObjectValue && args.or(2, "freeze", true) !== false) {
    const own = layer.module?.parameters.get("weight");
    if (own instanceof Tensor) own.requiresGrad = false;
  }
  return layer;
};

/** `Transformer.generate_square_subsequent_mask(size)`: minus infinity above the diagonal. */
const subsequentMask: Native = (interpreter, args) => {
  const size = args.or(0, "sz", null);
  const options = [...args.keywords].filter(([name]) => name !== "sz");
  const shape = new TupleValue([size, size]);
  const filled = new CallArguments([shape, new Float(-Infinity)], new Map(options));
  const full = runOperator(interpreter, "torch.full", filled);
  return full instanceof Tensor ? callOperator(interpreter, "torch.triu", [full, 1]) : full;
};

const nothing: Native = () => null;

/** `SyncBatchNorm.convert_sync_batchnorm(model)`: the layers change their class and keep what they hold. */
const converted: Native = (_interpreter, args) => args.get(1, "module") ?? null;

const recurrent = { flatten_parameters: new NativeFunction("flatten_parameters", nothing) };
const tracking = { reset_running_stats: new NativeFunction("reset_running_stats", nothing) };

/** By class path and name. */
const ownMethods: Readonly<Record<string, Readonly<Record<string, Value>>>> = {
  "torch.nn.Embedding": { from_pretrained: classMethod("from_pretrained", fromPretrained) },
  "torch.nn.EmbeddingBag": { from_pretrained: classMethod("from_pretrained", fromPretrained) },
  "torch.nn.Transformer": {
    generate_square_subsequent_mask: staticMethod("generate_square_subsequent_mask", subsequentMask),
  },
  "torch.nn.SyncBatchNorm": {
    convert_sync_batchnorm: classMethod("convert_sync_batchnorm", converted),
    ...tracking,
  },
  "torch.nn.RNN": recurrent,
  "torch.nn.LSTM": recurrent,
  "torch.nn.GRU": recurrent,
  ...Object.fromEntries(
    ["BatchNorm", "InstanceNorm"].flatMap((kind) =>
      [1, 2, 3].map((rank) => [`torch.nn.${kind}${rank}d`, tracking] as const),
    ),
  ),
};

/** The methods of one class of `torch.nn`, by name. */
export function ownMethodsOf(path: string): readonly (readonly [string, Value])[] {
  return Object.hasOwn(ownMethods, path) ? Object.entries(ownMethods[path] ?? {}) : [];
}
