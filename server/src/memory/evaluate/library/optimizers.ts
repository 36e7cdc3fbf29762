/**
 * `torch.optim` and the optimizers of other libraries that the table of optimizers has, as classes of the evaluator: made
 * with groups of parameters, stepped while a script's own iteration is run. A class of the script that derives from
 * `Optimizer` runs its own `step`. Sources: torch/optim/{optimizer,lbfgs,swa_utils}.py, torch/amp/grad_scaler.py.
 */
import { message } from "../../../messages/message";
import { unknownReasons } from "../../../messages/estimate";
import type { Span } from "../../../python/tree";
import { isKnownOptimizer } from "../../optimizers";
import { Tensor } from "../../tensor";
import { isUnknown, Unknown } from "../../unknown";
import { CallArguments } from "../arguments";
import { getAttribute } from "../attributes";
import { callOperator } from "../bridge";
import type { Interpreter } from "../interpreter";
import { dictOf, dictSet } from "../iteration";
import { backward } from "../training/backward";
import { optionsOf, parametersOf, parseGroups } from "../training/groups";
import {
  ClassValue,
  DictValue,
  Float,
  ListValue,
  NativeFunction,
  ObjectValue,
  type Native,
  type Value,
} from "../values";
import { libraryClass, libraryObject } from "./library-class";
import { averagedModelFunctions } from "./averaged-model";

/** Libraries whose optimizers have the names of the table. */
const optimizerPaths =
  /^(torch\.optim\.(\w+\.)?|bitsandbytes\.optim\.(\w+\.)?|apex\.optimizers\.|lion_pytorch\.|torch_optimizer\.|transformers\.(optimization\.)?(?=AdamW$))[A-Z]\w*$/;

function namedEntries(dict: DictValue): (readonly [string, Value])[] {
  return [...dict.entries.values()].flatMap(({ key, value }) =>
    typeof key === "string" ? [[key, value] as const] : [],
  );
}

function selfOf(args: CallArguments): ObjectValue | undefined {
  const self = args.at(0);
  return self instanceof ObjectValue ? self : undefined;
}

/** The class behind `torch.optim.AdamW` and the like; undefined for what is no optimizer that we know. */
export function optimizerClass(interpreter: Interpreter, path: string): ClassValue | undefined {
  if (/^torch\.optim\.(optimizer\.)?Optimizer$/.test(path)) return baseClass(path);
  const name = path.split(".").at(-1) ?? path;
  if (!optimizerPaths.test(path) || !isKnownOptimizer(name)) return undefined;
  const base = interpreter.library.classOf("torch.optim.Optimizer");
  const type = new ClassValue(name, base === undefined ? [] : [base]);
  type.path = path;
  type.attributes.set("__init__", new NativeFunction("__init__", constructor(name)));
  type.attributes.set("step", new NativeFunction("step", name === "LBFGS" ? closureStep(name) : step(name)));
  return type;
}

function baseClass(path: string): ClassValue {
  const type = libraryClass("Optimizer", {
    __init__: (interpreter, args, span) => {
      const given = args.withoutFirst();
      const defaults = given.or(1, "defaults", null);
      const options = defaults instanceof DictValue ? namedEntries(defaults) : [];
      return initialize(interpreter, args, new Map(options), span);
    },
    zero_grad: (interpreter, args) => {
      const self = selfOf(args);
      if (self !== undefined)
        interpreter.training?.zeroGradients(parametersOf(self), args.or(1, "set_to_none", true) !== false);
      return null;
    },
    add_param_group: (interpreter, args, span) => {
      const groups = selfOf(args)?.attributes.get("param_groups");
      const defaults = selfOf(args)?.attributes.get("defaults");
      const options = defaults instanceof DictValue ? namedEntries(defaults) : [];
      const added = parseGroups(
        interpreter,
        new ListValue([args.or(1, "param_group", null)]),
        new Map(options),
        span,
      );
      if (isUnknown(added)) return interpreter.note(added);
      if (groups instanceof ListValue) {
        for (const item of added.items) interpreter.references.adopt(groups, item);
        groups.items.push(...added.items);
      }
      return null;
    },
    step: (_, args) => args.at(0) ?? null,
    state_dict: () => new DictValue(),
    load_state_dict: () => null,
    register_step_pre_hook: () => null,
    register_step_post_hook: () => null,
  });
  type.path = path;
  return type;
}

function constructor(name: string): Native {
  return (interpreter, args, span) => {
    if (args.unknownKeywords !== undefined) return args.unknownKeywords;
    return initialize(interpreter, args, optionsOf(name, args.withoutFirst()), span);
  };
}

/** `Optimizer.__init__(params, defaults)`. */
function initialize(
  interpreter: Interpreter,
  args: CallArguments,
  defaults: ReadonlyMap<string, Value>,
  span: Span | undefined,
): Value {
  const self = selfOf(args);
  if (self === undefined) return null;
  const groups = parseGroups(interpreter, args.or(1, "params", null), defaults, span);
  if (isUnknown(groups)) return groups;
  const state = new DictValue();
  state.factory = interpreter.library.types.get("dict") ?? null;
  for (const [name, value] of [
    ["param_groups", groups],
    ["state", state],
    ["defaults", dictOf(defaults)],
  ] as const) {
    interpreter.references.adopt(self, value);
    self.attributes.set(name, value);
  }
  interpreter.optimizers.add(self);
  return null;
}

/** `closure()` with gradients on, as every `step` calls it. */
function evaluateClosure(interpreter: Interpreter, closure: Value, span: Span | undefined): Value {
  interpreter.execution.pushGradMode(true);
  const loss = interpreter.call(closure, new CallArguments([]), span);
  interpreter.execution.popGradMode();
  return loss;
}

function step(name: string): Native {
  return (interpreter, args, span) => {
    const self = selfOf(args);
    const closure = args.or(1, "closure", null);
    const loss = closure === null ? null : evaluateClosure(interpreter, closure, span);
    if (self !== undefined) interpreter.training?.step(self, name, span);
    return loss;
  };
}

/** Flat vectors of all parameters that LBFGS has between two calls of its closure: gradient, new direction, its sum. */
const vectorsInClosure = 3;
/** Those, the newest pair of the history before the oldest goes. */
const vectorsInStep = 5;

/**
 * LBFGS calls its closure again and again within a step. Once its history is full every call after the first is made with
 * three more flat vectors alive, and the update with five. A line search keeps more, in numbers that its course decides.
 */
function closureStep(name: string): Native {
  return (interpreter, args, span) => {
    const [self, closure] = [selfOf(args), args.or(1, "closure", null)];
    if (self === undefined || interpreter.training === undefined) return null;
    const read = (key: string): Value => {
      const defaults = self.attributes.get("defaults");
      return defaults instanceof DictValue ? (defaults.entries.get(`s${key}`)?.value ?? null) : null;
    };
    const { execution } = interpreter;
    const loss = evaluateClosure(interpreter, closure, span);
    if (read("line_search_fn") !== null) execution.noteBoundAt(message(unknownReasons.lineSearch), span);
    const tensors = parametersOf(self).filter(({ requiresGrad }) => requiresGrad);
    const elements = tensors.reduce((sum, { shape }) => sum + shape.reduce((a, b) => a * b, 1), 0);
    const vectors = (count: number): Tensor[] =>
      Array.from({ length: count }, () => execution.allocate([elements], tensors[0]?.dtype ?? "float32"));
    const held = vectors(vectorsInClosure);
    const mark = interpreter.references.mark();
    // of the later losses it keeps the number
    if (read("max_iter") !== 1) evaluateClosure(interpreter, closure, span);
    interpreter.references.releaseTo(mark);
    interpreter.training.step(self, name, span, () => {
      // and the product of the newest pair
      const product = execution.allocate([], tensors[0]?.dtype ?? "float32");
      const more = vectors(vectorsInStep - vectorsInClosure);
      for (const tensor of [...more, product]) execution.release(tensor);
    });
    for (const vector of held) execution.release(vector);
    return loss;
  };
}

/** What only changes learning rates. */
const scheduler = libraryClass("LRScheduler", {
  step: () => null,
  step_update: () => null,
  get_last_lr: () => new ListValue([new Float(0)]),
  get_lr: () => new ListValue([new Float(0)]),
  state_dict: () => new DictValue(),
  load_state_dict: () => null,
});

const makeScheduler: Native = (interpreter) => libraryObject(interpreter, scheduler, {});

/** What stands for a momentum that a scheduler moves up and down: only whether there is one matters. */
const cycledMomentum = new Float(0.9);

/**
 * `OneCycleLR` and `CyclicLR` move the momentum too, and give one to optimizers that were made without:
 * torch/optim/lr_scheduler.py, `cycle_momentum`.
 */
function cyclingScheduler(position: number): Native {
  return (interpreter, args, span) => {
    const optimizer = args.get(0, "optimizer");
    const groups = optimizer instanceof ObjectValue ? optimizer.attributes.get("param_groups") : undefined;
    const hasMomentum = optimizer instanceof ObjectValue && /^(SGD|RMSprop)$/.test(optimizer.type.name);
    const isCycled = hasMomentum && args.or(position, "cycle_momentum", true) !== false;
    for (const group of isCycled && groups instanceof ListValue ? groups.items : []) {
      if (group instanceof DictValue) dictSet(interpreter, group, "momentum", cycledMomentum);
    }
    return makeScheduler(interpreter, args, span);
  };
}

/** `torch.optim.lr_scheduler.StepLR`, `transformers.get_linear_schedule_with_warmup`, `timm.scheduler.CosineLRScheduler`. */
export function isScheduler(path: string): boolean {
  return (
    /^torch\.optim\.(lr_scheduler\.\w+|swa_utils\.SWALR)$/.test(path) ||
    /^transformers\.(optimization\.)?get_(\w+_)?schedule(r|_\w+)?$/.test(path) ||
    /^diffusers\.optimization\.get_(\w+_)?schedule(r|_\w+)?$/.test(path) ||
    /^timm\.scheduler\.(\w+\.)?\w*Scheduler$/.test(path)
  );
}

export const schedulerFunction = makeScheduler;

/** The scale and its growth tracker are tensors of one element on the device, made with the first loss. */
const scaler = libraryClass("GradScaler", {
  scale: (interpreter, args) => {
    const [self, loss] = [selfOf(args), args.at(1) ?? null];
    if (self === undefined || self.attributes.get("enabled") === false || !(loss instanceof Tensor))
      return loss;
    if (!self.attributes.has("_scale")) {
      for (const name of ["_scale", "_growth_tracker"]) {
        const made = interpreter.references.own(interpreter.execution.input([], "float32"));
        interpreter.references.adopt(self, made);
        self.attributes.set(name, made);
      }
    }
    return callOperator(interpreter, "Tensor.__mul__", [loss, self.attributes.get("_scale") ?? null]);
  },
  step: (interpreter, args, span) => {
    const optimizer = args.at(1) ?? null;
    const method = getAttribute(interpreter, optimizer, "step", span);
    return interpreter.call(method, new CallArguments(args.positional.slice(2), args.keywords), span);
  },
  unscale_: () => null,
  update: () => null,
  get_scale: () => new Float(65536),
  is_enabled: (_, args) => selfOf(args)?.attributes.get("enabled") !== false,
  state_dict: () => new DictValue(),
  load_state_dict: () => null,
});

const makeScaler: Native = (interpreter, args) => {
  const enabled = args.keywords.get("enabled") ?? true;
  return libraryObject(interpreter, scaler, { enabled });
};

/** `torch.autograd.grad`: gradients as large as the inputs; what computing them takes is not counted. */
const gradients: Native = (interpreter, args, span) => {
  const inputs = args.or(1, "inputs", null);
  const makesGraph = args.or(4, "create_graph", false) !== false;
  interpreter.note(
    interpreter.unknown(makesGraph ? "doubleBackward" : "gradientCall", span, {
      name: "torch.autograd.grad",
    }),
  );
  const tensors = inputs instanceof Tensor ? [inputs] : inputs instanceof ListValue ? inputs.items : [];
  const made = tensors.map((one) =>
    one instanceof Tensor
      ? interpreter.references.own(interpreter.execution.allocate(one.shape, one.dtype))
      : null,
  );
  return interpreter.library.call("builtins.tuple", new CallArguments([new ListValue(made)]), span);
};

/** `timm.optim.create_optimizer_v2(model, opt="adamw", weight_decay=…)`: the part before `_` of timm's names is a flag. */
const createOptimizer: Native = (interpreter, args, span) => {
  const [model, opt] = [args.or(0, "model_or_params", null), args.or(1, "opt", "sgd")];
  const bare = typeof opt === "string" ? (opt.toLowerCase().split("_").at(-1) ?? "") : "";
  const names = {
    sgd: "SGD",
    momentum: "SGD",
    nesterov: "SGD",
    adam: "Adam",
    adamw: "AdamW",
    rmsprop: "RMSprop",
  };
  const name = Object.entries(names).find(([key]) => key === bare)?.[1];
  const type = name === undefined ? undefined : interpreter.library.classOf(`torch.optim.${name}`);
  if (type === undefined || args.unknownKeywords !== undefined)
    return new Unknown(
      message(unknownReasons.optimizer, { name: typeof opt === "string" ? opt : "timm" }),
      span,
    );
  const isModel = model instanceof ObjectValue && model.module !== undefined;
  const parameters = isModel
    ? interpreter.call(getAttribute(interpreter, model, "parameters", span), new CallArguments([]), span)
    : model;
  const options = new Map(args.keywords);
  for (const key of ["opt", "model_or_params", "filter_bias_and_bn", "layer_decay"]) options.delete(key);
  if (name === "SGD" && bare !== "momentum") options.set("nesterov", true);
  if (name === "SGD" && !options.has("momentum")) options.set("momentum", new Float(0.9));
  return interpreter.call(type, new CallArguments([parameters], options), span);
};

export const optimizerFunctions: Readonly<Record<string, Native>> = {
  "torch.amp.GradScaler": makeScaler,
  "torch.amp.grad_scaler.GradScaler": makeScaler,
  "torch.cuda.amp.GradScaler": makeScaler,
  "torch.autograd.grad": gradients,
  "torch.optim.lr_scheduler.OneCycleLR": cyclingScheduler(7),
  "torch.optim.lr_scheduler.CyclicLR": cyclingScheduler(9),
  "torch.autograd.backward": (interpreter, args, span) =>
    backward(interpreter, new CallArguments([args.or(0, "tensors", null)], args.keywords), span),
  "timm.optim.create_optimizer_v2": createOptimizer,
  ...averagedModelFunctions,
};

/** Whether the optimizer's class is written in Python that is run, not in the table. */
export function isOwnOptimizer(optimizer: ObjectValue): boolean {
  return optimizer.type.node !== undefined;
}
