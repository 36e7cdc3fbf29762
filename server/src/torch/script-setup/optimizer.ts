/** The optimizer of a script, and the model whose parameters it got. */
import type { Call, Expression } from "../../python/tree";
import { walk } from "../../python/walk";
import { isOptimizer } from "../api-kinds";
import type { ScriptModel, ScriptOptimizer, ScriptValue, SetupContext } from "../script-setup";
import { configuredOptimizer } from "./deepspeed";
import { fitCalls } from "./fit";
import { identify, relate } from "../training-loop";
import { wayTo } from "./way";

/** Arguments that say nothing about memory. */
const ignored: ReadonlySet<string> = new Set([
  "params",
  "lr",
  "betas",
  "eps",
  "rho",
  "alpha",
  "lr_decay",
  // of ZeroRedundancyOptimizer
  "optimizer_class",
  "process_group",
  "parameters_as_bucket_view",
  "overlap_with_ddp",
]);
/** Positions of arguments that do, by class. */
const positions: Readonly<Record<string, readonly string[]>> = {
  "torch.optim.SGD": ["params", "lr", "momentum", "dampening", "weight_decay", "nesterov"],
};

/**
 * `optim=` of `TrainingArguments` as classes; a value that is not here stays unknown. Without `optim` it is AdamW
 * (fused or not depending on the version of PyTorch):
 * https://huggingface.co/docs/transformers/main_classes/trainer#transformers.TrainingArguments.optim
 */
const trainerOptimizers: Readonly<Record<string, ScriptOptimizer>> = {
  adamw_torch: named("torch.optim.AdamW"),
  adamw_torch_fused: named("torch.optim.AdamW", { fused: true }),
  adamw_hf: named("torch.optim.AdamW"),
  sgd: named("torch.optim.SGD"),
  adagrad: named("torch.optim.Adagrad"),
  rmsprop: named("torch.optim.RMSprop"),
  adafactor: named("transformers.Adafactor"),
  adamw_8bit: named("bitsandbytes.optim.AdamW8bit"),
  adamw_bnb_8bit: named("bitsandbytes.optim.AdamW8bit"),
  paged_adamw_8bit: named("bitsandbytes.optim.PagedAdamW8bit"),
  paged_adamw_32bit: named("bitsandbytes.optim.PagedAdamW32bit"),
};

function named(name: string, options: ScriptOptimizer["options"] = {}): ScriptOptimizer {
  return { name, options, complete: true };
}

export function optimizerOf(context: SetupContext): ScriptValue<ScriptOptimizer> | undefined {
  const { constants, trainers } = context;
  const made = constructions(context);
  const [first] = made;
  if (first !== undefined) {
    const descriptions = made.map((construction) => described(context, construction));
    const [value] = descriptions;
    const same = descriptions.every((other) => JSON.stringify(other) === JSON.stringify(value));
    return value !== undefined && same && (made.length === 1 || isOneOptimizer(context))
      ? { value, span: first }
      : undefined;
  }
  const ofModel = optimizerOfImported(context);
  if (ofModel !== undefined) return ofModel;
  const configured = configuredOptimizer(context.deepspeed);
  if (configured !== undefined) return configured;
  const call = trainers.arguments;
  if (call === undefined || constructions(context).length > 0 || constants.hidesArguments(call))
    return undefined;
  const given = constants.argument(call, "optim");
  if (given === undefined) return { value: { ...named("torch.optim.AdamW"), complete: false }, span: call };
  const name = constants.valueOf(given);
  const value = typeof name === "string" ? trainerOptimizers[name] : undefined;
  return value === undefined ? undefined : { value, span: given };
}

/** The optimizer that a LightningModule of another file configures: `trainer.fit(LitModel(…))`. */
function optimizerOfImported(context: SetupContext): ScriptValue<ScriptOptimizer> | undefined {
  const [call, other] = fitCalls(context);
  if (call === undefined || other !== undefined) return undefined;
  const model = context.constants.argument(call, "model", 0);
  const imported = model && context.resolver.imported.classOf(model);
  const made = imported?.file.torch.scriptSetup.optimizer;
  return made && { value: made.value, span: call };
}

/** The constructions of the optimizers that step, none when one is not understood; of all where no loop is seen. */
function constructions({ resolver, trainingLoops }: SetupContext): readonly Call[] {
  const stepping = new Set<Call>();
  const steps = trainingLoops.loops.flatMap((loop) => loop.steps);
  for (const { subject, places } of steps) {
    const made = subject === undefined ? undefined : identify(resolver, subject, places).constructions;
    if (made === undefined || made.size === 0) return [];
    for (const call of made) stepping.add(call);
  }
  if (steps.length > 0) return [...stepping];
  return resolver.callsOf(isOptimizer);
}

/** False when several optimizers step side by side, as in a GAN: their states add up. */
function isOneOptimizer({ resolver, trainingLoops }: SetupContext): boolean {
  if (trainingLoops.loops.every(({ steps }) => steps.length === 0)) return false;
  return trainingLoops.loops.every(({ steps }) => {
    const [first, ...others] = steps.flatMap(({ subject, places }) =>
      subject === undefined ? [] : [identify(resolver, subject, places)],
    );
    return first === undefined || others.every((other) => relate(first, other) === "same");
  });
}

/** `ZeroRedundancyOptimizer(parameters, optimizer_class=AdamW)` steps with the optimizer that it is given. */
function steppingClass(name: string | undefined, given: () => string | undefined): string | undefined {
  return name !== undefined && /\.ZeroRedundancyOptimizer$/.test(name) ? given() : name;
}

function described(context: SetupContext, call: Call): ScriptOptimizer | undefined {
  const { resolver, constants } = context;
  const name = steppingClass(resolver.qualifiedName(call.callee), () => {
    const given = constants.argument(call, "optimizer_class", 1);
    return given && resolver.qualifiedName(given);
  });
  // A factory (`create_optimizer(args, model)`) names no class.
  if (name === undefined || !isOptimizer(name) || !/\.[A-Z]\w*$/.test(name)) return undefined;
  const options: Record<string, number | boolean | string> = {};
  let complete = !constants.hidesArguments(call);
  const put = (key: string, expression: Expression): void => {
    if (ignored.has(key)) return;
    const value = constants.valueOf(expression);
    if (value === undefined) complete = false;
    else if (value !== null) options[key] = value;
  };
  call.positional.forEach((expression, index) => {
    const key = positions[name]?.[index] ?? (index < 2 ? "params" : undefined);
    if (key === undefined) complete = false;
    else put(key, expression);
  });
  for (const keyword of call.keywords) put(keyword.name.id, keyword.value);
  for (const key of [
    "momentum",
    "weight_decay",
    "fused",
    "foreach",
    "amsgrad",
    "nesterov",
    "maximize",
    "centered",
  ]) {
    const spread = key in options ? undefined : constants.argument(call, key);
    if (spread !== undefined) put(key, spread);
  }
  if (hasMomentum.test(name) && (options["momentum"] ?? 0) === 0 && cyclesMomentum(context)) {
    options["momentum"] = cycledMomentum;
  }
  const parts = trainedBy(context, call)?.parts;
  return { name, options, complete, ...(parts === undefined ? {} : { parts }) };
}

/** Optimizers with a momentum that is 0 unless it is given. */
const hasMomentum = /^torch\.optim\.(\w+\.)?(SGD|RMSprop)$/;
/** Any that is not 0: only whether there is one matters. */
const cycledMomentum = 0.9;

/** `OneCycleLR` and `CyclicLR` give the optimizer a momentum unless they are told not to. */
function cyclesMomentum({ resolver, constants }: SetupContext): boolean {
  return resolver
    .callsOf((name) => /^torch\.optim\.lr_scheduler\.(OneCycleLR|CyclicLR)$/.test(name))
    .some((call) => constants.valueOf(constants.argument(call, "cycle_momentum")) !== false);
}

export function modelOf(context: SetupContext): ScriptValue<ScriptModel> | undefined {
  const { resolver } = context;
  const expression = trainedExpression(context);
  if (expression === undefined) return undefined;
  const object = resolver.objectOf(expression);
  if (object === undefined || object.role !== "model") return undefined;
  const construction = object.construction ?? foreignConstruction(context, expression);
  return {
    value: {
      expression,
      className: object.className,
      classDefinition: object.classDefinition,
      construction,
      way: construction === undefined ? undefined : wayTo(context, construction),
    },
    span: construction ?? expression,
  };
}

/** `make_model()` of a library: the only value, where no class of this file is in it. */
function foreignConstruction({ resolver }: SetupContext, expression: Expression): Call | undefined {
  const isPlace = expression.kind === "Name" || expression.kind === "Attribute";
  const made = isPlace ? resolver.valuesOf(expression).map(unmoved) : [];
  // `model = model.cuda()` is the model that it was
  const key = resolver.keyOf(expression);
  const [only, other] = made.filter((value) => value.kind === "Call" || resolver.keyOf(value) !== key);
  if (only?.kind !== "Call" || other !== undefined) return undefined;
  if (resolver.qualifiedName(only.callee) === undefined) return undefined;
  const ownClasses: Call[] = [];
  walk(only, {
    enter(node) {
      if (node.kind === "Call" && resolver.constructedClass(node) !== undefined) ownClasses.push(node);
    },
  });
  return ownClasses.length > 0 ? undefined : only;
}

/** `model` in `Adam(model.parameters())`, `Trainer(model=model)`, `trainer.fit(model)`. */
function trainedExpression(context: SetupContext): Expression | undefined {
  const fits = fitCalls(context);
  const [fitted, otherFit] = context.trainingLoops.loops.length === 0 ? fits : [];
  if (fitted !== undefined && otherFit === undefined) return context.constants.argument(fitted, "model", 0);
  const found = constructions(context).map((call) => trainedBy(context, call)?.model);
  if (found.length === 1) return found[0];
  if (found.length > 1) return undefined;
  for (const { framework, call } of context.frameworks.made) {
    if (framework.name !== "hf-trainer") continue;
    return context.constants.argument(call, "model", 0);
  }
  return fits[0]?.positional[0];
}

/** Methods of a module that give the module itself. */
const giving: ReadonlySet<string> = new Set(["to", "cuda", "cpu", "train", "eval", "requires_grad_"]);

/** `build()` in `build().to(device).train()`. */
function unmoved(value: Expression): Expression {
  let node = value;
  while (
    node.kind === "Call" &&
    node.callee.kind === "Attribute" &&
    giving.has(node.callee.attribute.id) &&
    (node.callee.object.kind === "Call" || node.callee.object.kind === "Name")
  )
    node = node.callee.object;
  return node;
}

interface TrainedParts {
  readonly model: Expression;
  /** Dotted paths of the submodules whose parameters the optimizer got; undefined when it got all. */
  readonly parts: readonly string[] | undefined;
}

/** Names of lists of parameter groups are followed this far. */
const mostNames = 3;

/** The only model whose `parameters()` the optimizer was made with, and which parts of it. */
function trainedBy({ resolver }: SetupContext, optimizer: Call): TrainedParts | undefined {
  const given = optimizer.positional[0] ?? optimizer.keywords.find(({ name }) => name.id === "params")?.value;
  if (given === undefined) return undefined;
  const models = new Map<string, Expression>();
  const parts = new Set<string>();
  const receivers = new Set<Expression>();
  const search = (expression: Expression, depth: number): void => {
    walk(expression, {
      enter(node) {
        if (receivers.has(node as Expression)) return false;
        if (node.kind === "Name" && depth < mostNames)
          for (const value of resolver.valuesOf(node)) if (value !== node) search(value, depth + 1);
        if (node.kind !== "Call" || node.callee.kind !== "Attribute") return undefined;
        if (!/^(named_)?parameters$/.test(node.callee.attribute.id)) return undefined;
        receivers.add(node.callee.object);
        const { model, path } = rootOf(resolver, node.callee.object);
        models.set(resolver.keyOf(model) ?? `${model.start}`, model);
        parts.add(path);
        return undefined;
      },
    });
  };
  const sources = given.kind === "Name" || given.kind === "Attribute" ? resolver.valuesOf(given) : [given];
  for (const source of sources) search(source, 0);
  const [model] = models.values();
  if (model === undefined || models.size > 1) return undefined;
  return { model, parts: parts.has("") ? undefined : [...parts] };
}

/** `model` and `head.fc` in `model.head.fc`; a wrapper's `model.module` is the model itself. */
function rootOf(
  resolver: SetupContext["resolver"],
  expression: Expression,
): { model: Expression; path: string } {
  const names: string[] = [];
  let [model, path] = [expression, ""];
  for (let node = expression; node.kind === "Attribute"; node = node.object) {
    if (node.attribute.id !== "module") names.unshift(node.attribute.id);
    const isWrapper = node.attribute.id === "module" && names.length === 0;
    if (isWrapper || resolver.objectOf(node.object)?.role === "model")
      [model, path] = [node.object, names.join(".")];
  }
  return { model, path };
}
