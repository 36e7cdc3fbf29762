/**
 * Which parts of a training step a framework does itself: one table that the rules ask before they call something
 * missing. Every answer was read in the framework's documentation or source; the comment of a row says where.
 */
import type { Call, ClassDefinition, Expression, Node } from "../python/tree";
import { walk } from "../python/walk";
import type { Resolver } from "./resolve";
import { bySource } from "./resolve-index";

export type FrameworkName =
  | "accelerate"
  | "fabric"
  | "lightning"
  | "lightning-manual"
  | "deepspeed"
  | "hf-trainer"
  | "torchtune"
  | "fsdp"
  | "ignite"
  | "fastai"
  | "composer"
  | "mmengine";

/** What a training step has to do beyond forward and backward. */
export type Duty =
  /** Resetting gradients between two updates. */
  | "zeroing"
  /** Dividing the loss (or the gradients) by the accumulation steps. */
  | "loss-scaling"
  /** Calling `optimizer.step()` on the right micro-batch. */
  | "stepping"
  | "no-grad-in-evaluation"
  /** Clipping, with the unscaling that fp16 needs before it. */
  | "clipping"
  | "device-placement";

/**
 * `always`: done without being asked. `configured`: done when the user sets it up (an argument, a config key).
 * `never`: the script has to do it.
 */
export type Answer = "always" | "configured" | "never";

export interface Framework {
  readonly name: FrameworkName;
  /** As people call it. */
  readonly title: string;
  readonly duties: Readonly<Record<Duty, Answer>>;
  /** Canonical names of base classes whose subclasses run under the framework. */
  readonly baseClasses: readonly RegExp[];
  /** Canonical names of classes or functions that make the object through which the script speaks to it. */
  readonly makers: readonly RegExp[];
}

const all: Readonly<Record<Duty, Answer>> = {
  zeroing: "always",
  "loss-scaling": "always",
  stepping: "always",
  "no-grad-in-evaluation": "always",
  clipping: "configured",
  "device-placement": "always",
};

const none: Readonly<Record<Duty, Answer>> = {
  zeroing: "never",
  "loss-scaling": "never",
  stepping: "never",
  "no-grad-in-evaluation": "never",
  clipping: "never",
  "device-placement": "never",
};

const lightningRoot = String.raw`^(lightning(\.pytorch)?|pytorch_lightning)\.`;

export const frameworks: Readonly<Record<FrameworkName, Framework>> = {
  // accelerate/accelerator.py: `backward` divides by `gradient_accumulation_steps` (1 unless given); a prepared
  // optimizer's `step` and `zero_grad` act on the micro-batch that synchronizes only (accelerate/optimizer.py);
  // `clip_grad_norm_` unscales first but has to be called; `prepare` places model and batches on the device.
  // https://huggingface.co/docs/accelerate/usage_guides/gradient_accumulation
  accelerate: {
    name: "accelerate",
    title: "Accelerate",
    duties: { ...none, "loss-scaling": "configured", "device-placement": "always" },
    baseClasses: [],
    makers: [/^accelerate(\.accelerator)?\.Accelerator$/],
  },
  // lightning/fabric/fabric.py: `backward` handles precision, nothing else; the loop of the guide on accumulation
  // zeroes and steps by hand. https://lightning.ai/docs/fabric/stable/advanced/gradient_accumulation.html
  fabric: {
    name: "fabric",
    title: "Lightning Fabric",
    duties: { ...none, "device-placement": "always" },
    baseClasses: [],
    makers: [/^lightning(\.fabric(\.fabric)?)?\.Fabric$/, /^lightning_fabric(\.fabric)?\.Fabric$/],
  },
  // lightning/pytorch/loops/optimization/automatic.py: the closure zeroes on the first batch to accumulate and divides
  // the returned loss by `accumulate_grad_batches`; evaluation runs under inference_mode or no_grad.
  // https://lightning.ai/docs/pytorch/stable/common/optimization.html
  lightning: {
    name: "lightning",
    title: "Lightning",
    duties: all,
    baseClasses: [new RegExp(`${lightningRoot}(core\\.)?(module\\.)?(LightningModule|LightningDataModule)$`)],
    makers: [new RegExp(`${lightningRoot}(trainer\\.)?(trainer\\.)?Trainer$`)],
  },
  // The same guide, "Manual Optimization": with `self.automatic_optimization = False` the user calls zero_grad,
  // manual_backward and step; `manual_backward` scales for fp16 only. Evaluation stays under no_grad.
  "lightning-manual": {
    name: "lightning-manual",
    title: "Lightning (manual optimization)",
    duties: { ...none, "no-grad-in-evaluation": "always", "device-placement": "always" },
    baseClasses: [],
    makers: [],
  },
  // `engine.backward` divides by gradient_accumulation_steps; `engine.step` clips (`gradient_clipping`), steps and
  // zeroes at the accumulation boundary. https://www.deepspeed.ai/training/ "Gradient Accumulation"; the engine's
  // `step` docstring. `initialize` moves the model, batches are moved by the script.
  deepspeed: {
    name: "deepspeed",
    title: "DeepSpeed",
    duties: {
      ...none,
      zeroing: "always",
      "loss-scaling": "always",
      stepping: "always",
      clipping: "configured",
    },
    baseClasses: [],
    makers: [/^deepspeed\.initialize$/],
  },
  // transformers/trainer.py: `training_step` divides by the current accumulation steps (or passes
  // `num_items_in_batch` on), `_inner_training_loop` clips with `max_grad_norm`, steps and calls `model.zero_grad()`;
  // `prediction_step` runs under no_grad. TRL's and Sentence Transformers' trainers derive from it.
  // https://huggingface.co/docs/transformers/main_classes/trainer
  "hf-trainer": {
    name: "hf-trainer",
    title: "Hugging Face Trainer",
    duties: { ...all, clipping: "always" },
    baseClasses: [/^(transformers|trl|sentence_transformers|optimum|setfit|adapters)\.(.*\.)?\w*Trainer$/],
    makers: [/^(transformers|trl|sentence_transformers|optimum|setfit|adapters)\.(.*\.)?\w*Trainer$/],
  },
  // A recipe is the user's own loop: it zeroes, steps and clips; it sums the loss over tokens and calls
  // `training.scale_grads` before the step. https://meta-pytorch.org/torchtune/stable/deep_dives/recipe_deepdive.html
  torchtune: {
    name: "torchtune",
    title: "torchtune",
    duties: none,
    baseClasses: [/^torchtune\.recipe_interfaces\.\w+$/],
    makers: [],
  },
  // https://docs.pytorch.org/docs/stable/fsdp.html: shards states; the loop stays the script's. Gradients are clipped
  // by `model.clip_grad_norm_`, called by the script. Only the wrapped module is placed.
  fsdp: {
    name: "fsdp",
    title: "FSDP",
    duties: none,
    baseClasses: [],
    makers: [
      /^torch\.distributed\.fsdp\.(.*\.)?FullyShardedDataParallel$/,
      /^torch\.distributed\.(fsdp|_composable\.fsdp)\.(.*\.)?fully_shard$/,
    ],
  },
  // ignite/engine/__init__.py: the steps made by `supervised_training_step*` zero, divide by
  // `gradient_accumulation_steps` and step; the evaluation steps run under no_grad. A bare `Engine(function)` does
  // nothing of this, so it is no maker. https://pytorch.org/ignite/engine.html
  ignite: {
    name: "ignite",
    title: "Ignite",
    duties: { ...all, clipping: "never", "device-placement": "configured" },
    baseClasses: [],
    makers: [
      /^ignite\.engine\.(create_supervised_(trainer|evaluator)|supervised_(training|evaluation)_step\w*)$/,
    ],
  },
  // fastai/learner.py: `_do_one_batch` runs backward, step, zero_grad; callbacks GradientAccumulation and GradientClip
  // (fastai/callback/training.py). https://docs.fast.ai/learner.html
  fastai: {
    name: "fastai",
    title: "fastai",
    duties: { ...all, "loss-scaling": "configured" },
    baseClasses: [/^fastai\.(.*\.)?(Callback|Learner)$/],
    makers: [/^fastai\.(.*\.)?(Learner|\w+_learner)$/],
  },
  // composer/trainer/trainer.py: micro-batches, scaling by their share of the batch, zeroing and stepping are the
  // Trainer's; GradientClipping is an algorithm. https://docs.mosaicml.com/projects/composer
  composer: {
    name: "composer",
    title: "Composer",
    duties: all,
    baseClasses: [/^composer\.(.*\.)?(ComposerModel|HuggingFaceModel|Algorithm|Callback)$/],
    makers: [/^composer\.(.*\.)?Trainer$/],
  },
  // mmengine/optim/optimizer/optimizer_wrapper.py: `update_params` scales by the accumulative counts, runs backward,
  // and steps and zeroes when `should_update`; the validation loops run under no_grad.
  // https://mmengine.readthedocs.io/en/latest/tutorials/optim_wrapper.html
  mmengine: {
    name: "mmengine",
    title: "MMEngine",
    duties: all,
    baseClasses: [/^mmengine\.(.*\.)?(BaseModel|Hook|BaseLoop)$/],
    makers: [/^mmengine\.(.*\.)?(Runner|FlexibleRunner|\w*OptimWrapper)$/],
  },
};

const table = Object.values(frameworks);

/** What the rules ask about frameworks in one file; computed on first use. */
export interface FrameworkFacts {
  /** The framework a class runs under by its bases; a LightningModule that turns `automatic_optimization` off is manual. */
  ofClass(owner: ClassDefinition): Framework | undefined;
  /** The framework of the class around a node, outermost last: hooks and steps of a LightningModule, a Trainer's methods. */
  around(node: Node): Framework | undefined;
  /** The framework an object belongs to: an Accelerator, a DeepSpeed engine, a Trainer. */
  ofObject(expression: Expression): Framework | undefined;
  /** Calls in this file that make a framework's object, in source order. */
  readonly made: readonly { readonly framework: Framework; readonly call: Call }[];
  /** The first call that makes an object of that framework. */
  makerOf(name: FrameworkName): Call | undefined;
}

/** Looks through the file once, on first use. */
export function createFrameworkFacts(resolver: Resolver): FrameworkFacts {
  return new FileFrameworks(resolver);
}

class FileFrameworks implements FrameworkFacts {
  private knownMade: FrameworkFacts["made"] | undefined;

  constructor(private readonly resolver: Resolver) {}

  ofClass(owner: ClassDefinition): Framework | undefined {
    return frameworkOfClass(this.resolver, owner);
  }

  around(node: Node): Framework | undefined {
    return frameworkAround(this.resolver, node);
  }

  ofObject(expression: Expression): Framework | undefined {
    return frameworkOfObject(this.resolver, expression);
  }

  get made(): FrameworkFacts["made"] {
    return (this.knownMade ??= madeIn(this.resolver));
  }

  makerOf(name: FrameworkName): Call | undefined {
    return this.made.find(({ framework }) => framework.name === name)?.call;
  }
}

/** The framework that a call of this canonical name makes an object of. */
export function frameworkMadeBy(qualifiedName: string | undefined): Framework | undefined {
  if (qualifiedName === undefined) return undefined;
  return table.find(({ makers }) => makers.some((maker) => maker.test(qualifiedName)));
}

function madeIn(resolver: Resolver): { framework: Framework; call: Call }[] {
  const ofClasses = resolver.index.classes
    .filter((owner) => frameworkOfClass(resolver, owner) !== undefined)
    .flatMap(({ name }) => resolver.index.callsByName.get(name.id) ?? []);
  const ofLibraries = resolver.callsOf((name) => frameworkMadeBy(name) !== undefined);
  const calls = [...new Set([...ofLibraries, ...ofClasses])].sort(bySource);
  return calls.flatMap((call) => {
    const framework = frameworkOfCall(resolver, call);
    return framework === undefined ? [] : [{ framework, call }];
  });
}

function frameworkOfCall(resolver: Resolver, call: Call): Framework | undefined {
  const known = frameworkMadeBy(resolver.qualifiedName(call.callee));
  if (known !== undefined) return known;
  const constructed = resolver.constructedClass(call);
  return constructed === undefined ? undefined : frameworkOfClass(resolver, constructed);
}

function frameworkOfClass(resolver: Resolver, owner: ClassDefinition): Framework | undefined {
  const bases = resolver.basesOf(owner);
  const found = table.find(({ baseClasses }) =>
    baseClasses.some((pattern) => bases.some((base) => pattern.test(base))),
  );
  if (found?.name === "lightning" && turnsAutomaticOptimizationOff(owner))
    return frameworks["lightning-manual"];
  return found;
}

function frameworkAround(resolver: Resolver, node: Node): Framework | undefined {
  for (let around: Node | undefined = node; around !== undefined; around = around.parent) {
    if (around.kind !== "ClassDefinition") continue;
    const found = frameworkOfClass(resolver, around);
    if (found !== undefined) return found;
  }
  return undefined;
}

function frameworkOfObject(resolver: Resolver, expression: Expression): Framework | undefined {
  const object = resolver.objectOf(expression);
  if (object === undefined) return undefined;
  if (object.role === "engine") return frameworks.deepspeed;
  if (object.classDefinition !== undefined) return frameworkOfClass(resolver, object.classDefinition);
  return (
    frameworkMadeBy(object.className) ??
    (object.construction === undefined ? undefined : frameworkOfCall(resolver, object.construction))
  );
}

/** `self.automatic_optimization = False` anywhere in the class, or the same as a class attribute. */
function turnsAutomaticOptimizationOff(owner: ClassDefinition): boolean {
  let found = false;
  walk(owner, {
    enter(node) {
      if (node.kind !== "Assign" || node.value.kind !== "Boolean" || node.value.value) return;
      found ||= node.targets.some((target) => nameOfTarget(target) === "automatic_optimization");
    },
  });
  return found;
}

function nameOfTarget(target: Expression): string | undefined {
  if (target.kind === "Name") return target.id;
  return target.kind === "Attribute" ? target.attribute.id : undefined;
}
