/**
 * `torch.utils.data`: datasets by the shape of one sample, loaders by the batch that they make of it. What is in a batch is
 * not known, only its shapes and types. Sources: torch/utils/data/{dataset,dataloader,_utils/collate}.py.
 */
import type { Span } from "../../../python/tree";
import { isDense, Tensor } from "../../tensor";
import { isUnknown } from "../../unknown";
import { CallArguments } from "../arguments";
import { lengthOf } from "../builtins/functions";
import type { Interpreter } from "../interpreter";
import { dictOf, iterate } from "../iteration";
import { dataTensor, deviceOf } from "../nn/tensors";
import { integer } from "../numbers";
import { keyText } from "../operations";
import { getItem } from "../subscripts";
import { libraryClass, libraryObject } from "./library-class";
import { formOfArray } from "./open-arrays";
import { backward } from "../training/backward";
import {
  ContextValue,
  DictValue,
  Float,
  IteratorValue,
  ListValue,
  ObjectValue,
  TupleValue,
  type Native,
  type Value,
} from "../values";
import { UnknownFloat } from "../unknown-floats";

const nowhere: Span = { start: 0, end: 0 };

/** More samples than this are not gathered one by one for a `collate_fn`. */
const mostGathered = 4096;

/** An attribute of the object that a method is called on. */
function own(args: CallArguments, name: string): Value {
  const object = args.at(0);
  return object instanceof ObjectValue ? (object.attributes.get(name) ?? null) : null;
}

const tensorDataset = libraryClass("TensorDataset", {
  __getitem__: (interpreter, args, span) => {
    const tensors = own(args, "tensors");
    const items = tensors instanceof TupleValue ? tensors.items : [];
    return new TupleValue(
      items.map((tensor) => getItem(interpreter, tensor, args.at(1) ?? null, span ?? nowhere)),
    );
  },
  __len__: (interpreter, args, span) => {
    const tensors = own(args, "tensors");
    const first = tensors instanceof TupleValue ? tensors.items[0] : undefined;
    return lengthOf(interpreter, first ?? null, span);
  },
});

/** `Subset`: the samples of another dataset; how many, where that is known. */
const subset = libraryClass("Subset", {
  __getitem__: (interpreter, args, span) => sampleOf(interpreter, own(args, "dataset"), span),
  __len__: (interpreter, args, span) => {
    const count = own(args, " count");
    return count ?? interpreter.unknown("call", span, { name: "len" });
  },
});

const concatenation = libraryClass("ConcatDataset", {
  __getitem__: (interpreter, args, span) => {
    const datasets = iterate(interpreter, own(args, "datasets"), span);
    if (isUnknown(datasets)) return datasets;
    for (const dataset of datasets) return sampleOf(interpreter, dataset, span);
    return interpreter.raise("IndexError", "no dataset to take a sample from", span);
  },
});

/** The first sample of a dataset. */
function sampleOf(interpreter: Interpreter, dataset: Value, span: Span | undefined): Value {
  if (isUnknown(dataset)) return dataset;
  const isStream =
    dataset instanceof ObjectValue &&
    dataset.type.attribute("__getitem__") === undefined &&
    dataset.type.attribute("__iter__") !== undefined;
  if (!isStream) return getItem(interpreter, dataset, 0, span ?? nowhere);
  const items = iterate(interpreter, dataset, span);
  if (isUnknown(items)) return items;
  for (const item of items) return item;
  return interpreter.raise("StopIteration", "", span);
}

/** `default_collate` of `count` samples that are like this one. */
function collated(interpreter: Interpreter, sample: Value, count: number, span: Span | undefined): Value {
  interpreter.tick();
  if (isUnknown(sample)) return sample;
  if (sample instanceof Tensor) {
    const whole = dataTensor(interpreter, [count, ...sample.shape], sample.dtype);
    whole.bound = sample.bound;
    return whole;
  }
  if (typeof sample === "boolean") return dataTensor(interpreter, [count], "bool");
  if (typeof sample === "number") return dataTensor(interpreter, [count], "int64");
  if (sample instanceof Float || sample instanceof UnknownFloat)
    return dataTensor(interpreter, [count], "float64");
  if (typeof sample === "string")
    return new ListValue(Array.from({ length: Math.min(count, mostGathered) }, () => sample));
  const inner = (value: Value): Value => collated(interpreter, value, count, span);
  if (sample instanceof TupleValue && sample.type !== undefined)
    return new TupleValue(sample.items.map(inner), sample.type);
  if (sample instanceof TupleValue || sample instanceof ListValue)
    return new ListValue(sample.items.map(inner));
  if (sample instanceof DictValue) {
    if (sample.tainted !== undefined) return sample.tainted;
    return dictOf(
      [...sample.entries.values()].map(({ key, value }) => [keyText(key), inner(value)] as const),
    );
  }
  const array = formOfArray(sample);
  const axis = array?.shape.indexOf(undefined) ?? -1;
  if (axis >= 0) return interpreter.unknown("dataSize", span, { axis });
  if (array !== undefined) return interpreter.unknown("dataType", span);
  return interpreter.unknown("unsupported", span, { what: `collate(${interpreter.typeName(sample)})` });
}

/** One full batch of a loader; Unknown where nobody asks for a script's batches. */
export function batchOf(interpreter: Interpreter, loader: ObjectValue, span: Span | undefined): Value {
  const { sampler } = interpreter;
  if (sampler === undefined) return interpreter.unknown("unsupported", span, { what: "iter(DataLoader)" });
  const read = (name: string): Value => loader.attributes.get(name) ?? null;
  const dataset = read("dataset");
  const batches = read("batch_sampler");
  const given = batches === null ? read("batch_size") : firstLength(interpreter, batches, span);
  const sample = sampleOf(interpreter, dataset, span);
  if (given === null) return sample;
  const size = integer(given);
  if (size === undefined)
    return isUnknown(given) ? given : interpreter.unknown("call", span, { name: "DataLoader" });
  const count = Math.max(1, Math.round(size * sampler.scale));
  sampler.sizes.add(size);
  const collate = read("collate_fn");
  if (collate === null) return collated(interpreter, sample, count, span);
  if (count > mostGathered) return interpreter.unknown("size", span);
  const others = Array.from({ length: count - 1 }, () => another(interpreter, sample));
  const samples = interpreter.references.keep(new ListValue([sample, ...others]));
  return interpreter.call(collate, new CallArguments([samples]), span);
}

/** A sample like this one with tensors of its own: a `collate_fn` may keep them apart, as those of detectors do. */
function another(interpreter: Interpreter, sample: Value): Value {
  interpreter.tick();
  if (sample instanceof Tensor) {
    const copy = dataTensor(interpreter, sample.shape, sample.dtype);
    copy.bound = sample.bound;
    copy.values = sample.values;
    copy.isArray = sample.isArray;
    if (isDense(sample)) copy.strides = sample.strides;
    return copy;
  }
  const inner = (value: Value): Value => another(interpreter, value);
  if (sample instanceof TupleValue)
    return new TupleValue(sample.items.map(inner), sample.type, sample.isSize);
  if (sample instanceof ListValue) return new ListValue(sample.items.map(inner), sample.most);
  if (!(sample instanceof DictValue) || sample.uncertain !== undefined || sample.owner !== undefined)
    return sample;
  const copy = new DictValue();
  for (const [file, { key, value }] of sample.entries) copy.entries.set(file, { key, value: inner(value) });
  return copy;
}

/** How many indices the first batch of a sampler of batches has. */
function firstLength(interpreter: Interpreter, batches: Value, span: Span | undefined): Value {
  const items = iterate(interpreter, batches, span);
  if (isUnknown(items)) return items;
  for (const item of items) return lengthOf(interpreter, item, span);
  return interpreter.unknown("unsupported", span, { what: "batch_sampler" });
}

const loader = libraryClass("DataLoader", {
  /** How often a loop over it runs is not known; a batch of it is. */
  __iter__: (interpreter, args, span) => {
    const self = args.at(0);
    if (interpreter.sampler?.isEntering !== true || !(self instanceof ObjectValue))
      return interpreter.unknown("unsupported", span, { what: "iter(DataLoader)" });
    const batch = batchOf(interpreter, self, span);
    return isUnknown(batch) ? batch : new IteratorValue([batch].values(), [batch]);
  },
  __len__: (interpreter, args, span) => {
    const samples = lengthOf(interpreter, own(args, "dataset"), span);
    const size = integer(own(args, "batch_size"));
    if (typeof samples !== "number" || size === undefined || size < 1)
      return interpreter.unknown("call", span, { name: "len" });
    return own(args, "drop_last") === true ? Math.floor(samples / size) : Math.ceil(samples / size);
  },
});

export function isLoader(value: Value): value is ObjectValue {
  return value instanceof ObjectValue && value.type === loader;
}

const batchSampler = libraryClass("BatchSampler", {});

const makeBatchSampler: Native = (interpreter, args) =>
  args.unknownKeywords ??
  libraryObject(interpreter, batchSampler, {
    batch_size: args.or(1, "batch_size", null),
    drop_last: args.or(2, "drop_last", false),
  });

const makeLoader: Native = (interpreter, args) => {
  if (args.unknownKeywords !== undefined) return args.unknownKeywords;
  const given = args.or(4, "batch_sampler", null);
  const plain = given instanceof ObjectValue && given.type === batchSampler ? given : undefined;
  return libraryObject(interpreter, loader, {
    dataset: args.or(0, "dataset", null),
    batch_size: plain?.attributes.get("batch_size") ?? args.or(1, "batch_size", 1),
    batch_sampler: plain === undefined ? given : null,
    collate_fn: args.or(6, "collate_fn", null),
    drop_last: args.or(8, "drop_last", false),
    num_workers: args.or(5, "num_workers", 0),
  });
};

const randomSplit: Native = (interpreter, args, span) => {
  const dataset = args.or(0, "dataset", null);
  const lengths = iterate(interpreter, args.or(1, "lengths", null), span);
  if (isUnknown(lengths)) return lengths;
  const whole = lengthOf(interpreter, dataset, span);
  const parts: Value[] = [];
  for (const length of lengths) {
    const isShare = length instanceof Float && typeof whole === "number";
    const count = isShare ? Math.floor(length.value * whole) : (integer(length) ?? null);
    parts.push(libraryObject(interpreter, subset, { dataset, " count": count }));
  }
  return new ListValue(parts);
};

const makeSubset: Native = (interpreter, args, span) => {
  const length = lengthOf(interpreter, args.or(1, "indices", null), span);
  return libraryObject(interpreter, subset, {
    dataset: args.or(0, "dataset", null),
    " count": typeof length === "number" ? length : null,
  });
};

/** `default_collate` called by hand: on a list of samples. */
const defaultCollate: Native = (interpreter, args, span) => {
  const samples = args.at(0) ?? null;
  if (!(samples instanceof ListValue))
    return args.unknown() ?? interpreter.unknown("call", span, { name: "default_collate" });
  return collated(interpreter, samples.items[0] ?? null, samples.items.length, span);
};

/** What pads to the longest sequence of a batch. */
const padding: Native = (interpreter, args, span) => args.unknown() ?? interpreter.unknown("padding", span);

/** Progress bars give what they are given; `trange` is a range. */
const progress: Native = (_, args) => args.or(0, "iterable", null);
const progressRange: Native = (interpreter, args, span) =>
  interpreter.library.call("builtins.range", new CallArguments(args.positional), span);

const progressNames = ["tqdm", "tqdm.auto", "tqdm.notebook", "tqdm.std", "tqdm.autonotebook", "tqdm.rich"];

/**
 * accelerate's `Accelerator`: what `prepare` is given it gives back, wrapped; batches keep their size on each device unless
 * `split_batches` is set. Source: https://huggingface.co/docs/accelerate/package_reference/accelerator
 */
const accelerator = libraryClass("Accelerator", {
  prepare: (interpreter, args, span) => {
    const given = args.positional.slice(1);
    if (own(args, "split_batches") !== false) return interpreter.unknown("call", span, { name: "prepare" });
    return given.length === 1 ? (given[0] ?? null) : new TupleValue(given);
  },
  prepare_model: (_, args) => args.at(1) ?? null,
  prepare_data_loader: (_, args) => args.at(1) ?? null,
  prepare_optimizer: (_, args) => args.at(1) ?? null,
  prepare_scheduler: (_, args) => args.at(1) ?? null,
  unwrap_model: (_, args) => args.at(1) ?? null,
  backward: (interpreter, args, span) =>
    backward(interpreter, new CallArguments([args.at(1) ?? null], args.keywords), span),
  accumulate: () => emptyContext("accumulate"),
  autocast: () => emptyContext("autocast"),
  no_sync: () => emptyContext("no_sync"),
  clip_grad_norm_: () => null,
  clip_grad_value_: () => null,
  log: () => null,
  print: () => null,
  wait_for_everyone: () => null,
  save_state: () => null,
});

/** Precision is the setup's matter. */
function emptyContext(name: string): ContextValue {
  return new ContextValue(
    () => null,
    () => undefined,
    name,
  );
}

const makeAccelerator: Native = (interpreter, args) =>
  libraryObject(interpreter, accelerator, {
    device: deviceOf(interpreter),
    split_batches: args.keywords.get("dataloader_config") ?? args.or(2, "split_batches", false),
    is_main_process: true,
    sync_gradients: true,
    is_local_main_process: true,
    num_processes: 1,
    process_index: 0,
  });

export const batchFunctions: Readonly<Record<string, Native>> = {
  "torch.utils.data.BatchSampler": makeBatchSampler,
  "torch.utils.data.sampler.BatchSampler": makeBatchSampler,
  "torch.utils.data.DataLoader": makeLoader,
  "torch.utils.data.dataloader.DataLoader": makeLoader,
  "torchdata.stateful_dataloader.StatefulDataLoader": makeLoader,
  "torch.utils.data.TensorDataset": (interpreter, args) =>
    libraryObject(interpreter, tensorDataset, { tensors: new TupleValue([...args.positional]) }),
  "torch.utils.data.Subset": makeSubset,
  "torch.utils.data.ConcatDataset": (interpreter, args) =>
    libraryObject(interpreter, concatenation, { datasets: args.or(0, "datasets", null) }),
  "torch.nn.utils.rnn.pad_sequence": padding,
  ...Object.fromEntries(
    ["DataCollatorWithPadding", "DataCollatorForSeq2Seq", "DataCollatorForTokenClassification"].map(
      (name) => [`transformers.${name}`, padding],
    ),
  ),
  "accelerate.Accelerator": makeAccelerator,
  "torch.utils.data.random_split": randomSplit,
  "torch.utils.data.default_collate": defaultCollate,
  "torch.utils.data.dataloader.default_collate": defaultCollate,
  ...Object.fromEntries(progressNames.map((name) => [`${name}.tqdm`, progress])),
  ...Object.fromEntries(progressNames.map((name) => [`${name}.trange`, progressRange])),
};

/** Bases of datasets that people write. */
export const datasetBases: readonly string[] = [
  "torch.utils.data.Dataset",
  "torch.utils.data.dataset.Dataset",
  "torch.utils.data.IterableDataset",
];

/** Bases of samplers that people write: they give what their `__iter__` gives. */
export const samplerBases: readonly string[] = [
  "torch.utils.data.Sampler",
  "torch.utils.data.sampler.Sampler",
];
