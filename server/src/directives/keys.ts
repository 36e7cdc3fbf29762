/** The keys of the budget header as data: what completion, hover and the reader need to know of each. */

export const headerKeys = [
  "device",
  "budget",
  "batch",
  "accumulate",
  "devices",
  "input",
  "target",
  "loss",
  "model",
  "args",
  "optimizer",
  "precision",
  "attention",
  "checkpoint",
  "shard",
  "offload",
  "measured",
  "mode",
] as const;

export type HeaderKey = (typeof headerKeys)[number];

/** One value of each key, for messages and completion. */
export const headerExamples: Readonly<Record<HeaderKey, string>> = {
  device: "device=8GiB",
  budget: "budget=6.5GiB",
  batch: "batch=32",
  accumulate: "accumulate=4",
  devices: "devices=2",
  input: "input=float32[B,3,32,32]",
  target: "target=int64[B]<10",
  loss: "loss=cross_entropy",
  model: "model=Net(width=64)",
  args: "args=--batch-size 32 --arch resnet50",
  optimizer: "optimizer=adamw",
  precision: "precision=amp-bf16",
  attention: "attention=flash",
  checkpoint: "checkpoint=all",
  shard: "shard=ddp",
  offload: "offload=optimizer",
  measured: "measured=16:1.8GiB 32:3.0GiB",
  mode: "mode=train",
};

/** Keys that may be given more than once. */
export const repeatableKeys: ReadonlySet<HeaderKey> = new Set<HeaderKey>(["input", "target", "args"]);

/** What people call the keys elsewhere. */
export const keyMeanings: Readonly<Record<string, HeaderKey>> = {
  gpu: "device",
  card: "device",
  vram: "device",
  limit: "budget",
  max_memory: "budget",
  memory: "budget",
  batch_size: "batch",
  batchsize: "batch",
  bs: "batch",
  micro_batch: "batch",
  microbatch: "batch",
  "micro-batch": "batch",
  "batch-size": "batch",
  accumulation: "accumulate",
  accumulation_steps: "accumulate",
  grad_accum: "accumulate",
  gradient_accumulation: "accumulate",
  gradient_accumulation_steps: "accumulate",
  gpus: "devices",
  num_gpus: "devices",
  world_size: "devices",
  inputs: "input",
  x: "input",
  targets: "target",
  label: "target",
  labels: "target",
  y: "target",
  criterion: "loss",
  loss_fn: "loss",
  net: "model",
  network: "model",
  arguments: "args",
  argv: "args",
  command: "args",
  command_line: "args",
  cli: "args",
  optim: "optimizer",
  opt: "optimizer",
  dtype: "precision",
  amp: "precision",
  mixed_precision: "precision",
  sdpa: "attention",
  checkpointing: "checkpoint",
  recompute: "checkpoint",
  sharding: "shard",
  zero: "shard",
  fsdp: "shard",
  parallel: "shard",
  measurement: "measured",
  measurements: "measured",
};

/** Values that are one of a few words. */
export const choices = {
  precision: ["fp32", "amp-fp16", "amp-bf16", "fp16", "bf16"],
  attention: ["math", "flash", "efficient"],
  shard: ["none", "ddp", "zero-redundancy", "zero1", "zero2", "zero3", "fsdp"],
  offload: ["none", "optimizer", "parameters"],
  mode: ["train", "infer"],
} as const;

export type ChoiceKey = keyof typeof choices;

/** What people call these values elsewhere. */
export const choiceMeanings: Readonly<Record<ChoiceKey, Readonly<Record<string, string>>>> = {
  precision: {
    float32: "fp32",
    full: "fp32",
    tf32: "fp32",
    float16: "fp16",
    half: "fp16",
    bfloat16: "bf16",
    amp: "amp-fp16",
    mixed: "amp-fp16",
    "fp16-mixed": "amp-fp16",
    "16-mixed": "amp-fp16",
    "bf16-mixed": "amp-bf16",
    "mixed-fp16": "amp-fp16",
    "mixed-bf16": "amp-bf16",
  },
  attention: {
    sdpa: "flash",
    flash2: "flash",
    "mem-efficient": "efficient",
    xformers: "efficient",
    eager: "math",
  },
  shard: {
    no: "none",
    zeroredundancyoptimizer: "zero-redundancy",
    zero_redundancy_optimizer: "zero-redundancy",
    zero_redundancy: "zero-redundancy",
    "zero-1": "zero1",
    "zero-2": "zero2",
    "zero-3": "zero3",
    stage1: "zero1",
    stage2: "zero2",
    stage3: "zero3",
    fsdp2: "fsdp",
    fully_shard: "fsdp",
  },
  offload: { no: "none", cpu: "optimizer", params: "parameters", param: "parameters", all: "parameters" },
  mode: { training: "train", inference: "infer", eval: "infer", evaluate: "infer", predict: "infer" },
};

/** Losses known by name; `sum` of all outputs, `model` when forward returns the loss, `none` for a bare forward. */
export const losses = [
  "sum",
  "cross_entropy",
  "nll_loss",
  "mse",
  "l1",
  "bce",
  "bce_with_logits",
  "none",
  "model",
] as const;

export const lossMeanings: Readonly<Record<string, string>> = {
  ce: "cross_entropy",
  crossentropyloss: "cross_entropy",
  crossentropy: "cross_entropy",
  nll: "nll_loss",
  nllloss: "nll_loss",
  mse_loss: "mse",
  mseloss: "mse",
  l1_loss: "l1",
  l1loss: "l1",
  mae: "l1",
  bceloss: "bce",
  binary_cross_entropy: "bce",
  bcewithlogitsloss: "bce_with_logits",
  binary_cross_entropy_with_logits: "bce_with_logits",
};
