/**
 * What a script says about its training run: batch size, optimizer, precision, accumulation, loss, model, sharding.
 * Only what is certain from the source (with the defaults of its command line): anything else stays `undefined`.
 * `analysis.ts` maps it to the estimate's setup.
 */
import type { ReadBeside } from "../python/resolve-import";
import type { Call, ClassDefinition, Expression, FunctionDefinition, Lambda, Span } from "../python/tree";
import type { FrameworkFacts } from "./frameworks";
import type { Resolver } from "./resolve";
import { accumulationOf, batchesOf, batchOf, devicesOf } from "./script-setup/batch";
import { Constants } from "./script-setup/constants";
import { changedLater } from "./script-setup/changed-later";
import { dataOf, type ScriptData } from "./script-setup/data";
import { defaultTypeOf, type DefaultType } from "./script-setup/default-type";
import { deepSpeedConfiguration } from "./script-setup/deepspeed";
import type { DeepSpeedConfiguration } from "./script-setup/deepspeed";
import { loopElsewhere, type LoopElsewhere } from "./script-setup/elsewhere";
import { fitOf } from "./script-setup/fit";
import { forwardOf } from "./script-setup/forward";
import { iterationOf, otherLoops } from "./script-setup/iteration";
import { lossOf } from "./script-setup/loss";
import { modelOf, optimizerOf } from "./script-setup/optimizer";
import { precisionOf } from "./script-setup/precision";
import { trainerCallsOf, type TrainerCalls } from "./script-setup/trainers";
import { bucketViewsOf, checkpointingOf, offloadOf, shardingOf } from "./script-setup/wrapping";
import type { LoopNode, TrainingLoops } from "./training-loop";

/** A value and the expression of the script that gives it. */
export interface ScriptValue<Value> {
  readonly value: Value;
  readonly span: Span;
  /** The one number in the script that says it, where there is one: whoever changes that changes the value. */
  readonly literal?: Span;
}

export interface ScriptOptimizer {
  /** Canonical class name, e.g. `torch.optim.AdamW`. */
  readonly name: string;
  /** Constant arguments without the parameters and the learning rate, e.g. `{ momentum: 0.9, fused: true }`. */
  readonly options: Readonly<Record<string, number | boolean | string>>;
  /** False when some arguments could not be read: options may be missing. */
  readonly complete: boolean;
  /** Dotted paths of the model's submodules whose parameters it got; absent when it got all. */
  readonly parts?: readonly string[];
}

export type ScriptPrecision = "fp32" | "amp-fp16" | "amp-bf16" | "fp16" | "bf16";

export interface ScriptLoss {
  /** Canonical (`torch.nn.CrossEntropyLoss`, `torch.nn.functional.mse_loss`) or a name of this file; `model` when forward returns it. */
  readonly name: string;
  readonly form: "function" | "module" | "model";
  /** The constant `reduction` argument; `undefined` when not given. */
  readonly reduction: string | undefined;
}

export interface ScriptModel {
  /** What the optimizer's parameters belong to, as written: `model` in `Adam(model.parameters())`. */
  readonly expression: Expression;
  /** Canonical or the name of a class of this file. */
  readonly className: string | undefined;
  readonly classDefinition: ClassDefinition | undefined;
  /** `Net(width=64)`, inside `.cuda()`, `DDP(…)`, `torch.compile(…)`. */
  readonly construction: Call | undefined;
  /** The way to the construction. */
  readonly way?: ScriptWay | undefined;
}

export interface ScriptCheckpointing {
  /**
   * `library`: a switch such as `gradient_checkpointing_enable()`; `segment`: `checkpoint(block, x)`; `wrapper`:
   * `checkpoint_wrapper`, `apply_activation_checkpointing`.
   */
  readonly form: "library" | "segment" | "wrapper";
  readonly call: Call;
}

/** How a launcher runs a function: with what it is given for it, behind the process's number where it passes that. */
export interface ScriptLaunch {
  readonly callee: Expression;
  readonly given: Expression | undefined;
  readonly passesRank: boolean;
}

/** A call on a way and the function that it runs. */
export interface ScriptStep {
  readonly call: Call;
  readonly target: FunctionDefinition | Lambda;
  /** The call starts processes that run the function. */
  readonly launch?: ScriptLaunch | undefined;
}

/** The way to a place of the script from where it begins. */
export interface ScriptWay {
  /** The function in which the way there begins; `undefined` for the module's own code. */
  readonly root: FunctionDefinition | Lambda | undefined;
  /** Calls of functions of the file that lead to it, outermost first. */
  readonly through: readonly ScriptStep[];
}

/** The call that trains a model by itself. */
export interface ScriptFit extends ScriptWay {
  readonly call: Call;
}

/** The call of the trained model in its training loop. */
export interface ScriptForward extends ScriptWay {
  readonly call: Call;
  /** Further calls of the model in the same iteration. */
  readonly others: readonly Call[];
  /** A loop or a comprehension within the iteration calls the model. */
  readonly isRepeated: boolean;
}

/** The training loop as a whole. */
export interface ScriptIteration extends ScriptWay {
  /** The innermost loop that holds all backwards. */
  readonly loop: LoopNode;
  /** One optimizer steps one model, called once; there is no other model and no copy of one. */
  readonly isOfOneModel: boolean;
  /** The script calls one model, in one place of the iteration, and keeps no copy of it: what is said of an input is said of that call. */
  readonly isOfOneInput: boolean;
  /** Another model than the trained one is called in the script, outside of modules. */
  readonly callsOthers: boolean;
}

export type ScriptOffload = "optimizer" | "parameters";

/** `zero-redundancy` is PyTorch's ZeroRedundancyOptimizer, `zero1` to `zero3` are DeepSpeed's stages. */
export type ScriptSharding = "ddp" | "zero-redundancy" | "zero1" | "zero2" | "zero3" | "fsdp";

export interface ScriptSetup {
  /** Samples of one forward on one device. */
  readonly batch: ScriptValue<number> | undefined;
  /** The batch of any loader of the script. */
  readonly batchOfLoader: (loader: Expression) => number | undefined;
  readonly accumulate: ScriptValue<number> | undefined;
  readonly devices: ScriptValue<number> | undefined;
  readonly optimizer: ScriptValue<ScriptOptimizer> | undefined;
  readonly precision: ScriptValue<ScriptPrecision> | undefined;
  readonly loss: ScriptValue<ScriptLoss> | undefined;
  readonly model: ScriptValue<ScriptModel> | undefined;
  readonly shard: ScriptValue<ScriptSharding> | undefined;
  /** `gradient_as_bucket_view=True` of DistributedDataParallel. */
  readonly bucketViews: ScriptValue<true> | undefined;
  readonly forward: ScriptValue<ScriptForward> | undefined;
  /** The call that trains a Lightning module by its `training_step`. */
  readonly fit: ScriptValue<ScriptFit> | undefined;
  readonly iteration: ScriptValue<ScriptIteration> | undefined;
  /** A later pass over the data trains more than the first. */
  readonly changedLater: ScriptValue<true> | undefined;
  /** There are training loops that no loop holds together, and more to train than one model. */
  readonly otherLoops: ScriptValue<true> | undefined;
  /** New floating-point tensors are not in single precision. */
  readonly defaultType: ScriptValue<DefaultType> | undefined;
  readonly offload: ScriptValue<ScriptOffload> | undefined;
  /** Empty when nothing checkpoints. */
  readonly checkpointing: readonly ScriptCheckpointing[];
  readonly data: ScriptData;
}

/** What the parts below share. */
export interface SetupContext {
  readonly resolver: Resolver;
  readonly frameworks: FrameworkFacts;
  readonly trainingLoops: TrainingLoops;
  readonly constants: Constants;
  readonly trainers: TrainerCalls;
  readonly deepspeed: DeepSpeedConfiguration | undefined;
  /** The training loop that another file holds, for a file without one. */
  readonly elsewhere: LoopElsewhere | undefined;
}

/** What a script finds when it is started. */
export interface ScriptSurroundings {
  /** Reads the configuration files that it names. */
  readonly readBeside?: ReadBeside | undefined;
  /** The words behind its name on the command line; none unless somebody says so. */
  readonly commandLine?: readonly string[] | undefined;
}

/** Everything inside is computed on first use. */
export function createScriptSetup(
  resolver: Resolver,
  frameworks: FrameworkFacts,
  trainingLoops: TrainingLoops,
  surroundings: ScriptSurroundings,
): ScriptSetup {
  const context = new FileSetupContext(resolver, frameworks, trainingLoops, surroundings);
  return new LazySetup(context) as unknown as ScriptSetup;
}

/** How each part of a setup is found. */
const parts: { readonly [Key in keyof ScriptSetup]: (context: SetupContext) => ScriptSetup[Key] } = {
  batch: batchOf,
  batchOfLoader: batchesOf,
  accumulate: accumulationOf,
  devices: devicesOf,
  optimizer: optimizerOf,
  precision: precisionOf,
  loss: lossOf,
  model: modelOf,
  shard: shardingOf,
  bucketViews: bucketViewsOf,
  forward: forwardOf,
  fit: fitOf,
  iteration: iterationOf,
  changedLater,
  otherLoops,
  defaultType: defaultTypeOf,
  offload: offloadOf,
  checkpointing: checkpointingOf,
  data: dataOf,
};

/** Finds each part when it is first read. */
class LazySetup {
  private readonly found = new Map<string, unknown>();

  constructor(private readonly context: SetupContext) {}

  part(key: keyof ScriptSetup): unknown {
    if (!this.found.has(key)) this.found.set(key, parts[key](this.context));
    return this.found.get(key);
  }
}

for (const key of Object.keys(parts) as (keyof ScriptSetup)[]) {
  Object.defineProperty(LazySetup.prototype, key, {
    enumerable: true,
    get(this: LazySetup) {
      return this.part(key);
    },
  });
}

class FileSetupContext implements SetupContext {
  readonly constants: Constants;
  private knownTrainers: TrainerCalls | undefined;
  private knownElsewhere: { readonly value: LoopElsewhere | undefined } | undefined;
  private knownDeepSpeed: { readonly value: DeepSpeedConfiguration | undefined } | undefined;

  constructor(
    readonly resolver: Resolver,
    readonly frameworks: FrameworkFacts,
    readonly trainingLoops: TrainingLoops,
    private readonly surroundings: ScriptSurroundings,
  ) {
    this.constants = new Constants(resolver, undefined, surroundings.commandLine);
  }

  get trainers(): TrainerCalls {
    return (this.knownTrainers ??= trainerCallsOf(this.resolver));
  }

  get elsewhere(): LoopElsewhere | undefined {
    return (this.knownElsewhere ??= { value: loopElsewhere(this) }).value;
  }

  get deepspeed(): DeepSpeedConfiguration | undefined {
    const { resolver, constants, trainers, surroundings } = this;
    this.knownDeepSpeed ??= {
      value: deepSpeedConfiguration(resolver, constants, trainers, surroundings.readBeside),
    };
    return this.knownDeepSpeed.value;
  }
}
