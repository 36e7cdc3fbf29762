/** The loop whose iterations train everything that the script trains, and whether one model is all there is to it. */
import { isOnlyBoundBy } from "../../python/scope";
import type { Call, Expression, Node } from "../../python/tree";
import { enclosingFunction, isWithin, someNode } from "../../python/walk";
import { callsWithin, enclosingClass } from "../resolve-index";
import type { ScriptForward, ScriptIteration, ScriptValue, SetupContext } from "../script-setup";
import { identify, type LoopNode, type Place, type TrainingLoop } from "../training-loop";
import { forwardOf, forwardOfModel, isRepeatedIn } from "./forward";
import { loopOfHandedLoss } from "./handed";
import { takesJoined } from "./joined-input";
import { keepsOutputs } from "./kept-outputs";
import { modelOf, optimizerOf } from "./optimizer";
import { isUnusualStep } from "./unusual-step";
import { callsOn, fromTheBeginning, pathTo, wayTo } from "./way";

export function iterationOf(context: SetupContext): ScriptValue<ScriptIteration> | undefined {
  const { loops } = context.trainingLoops;
  const [first] = loops;
  if (first === undefined) return iterationOfHandedLoss(context) ?? iterationElsewhere(context);
  const overModels = new Set(loops.filter(isOverOptimizers).map(({ loop }) => loop));
  const paths = loops.map(pathTo);
  const shared = sharedLoop(paths, overModels) ?? sharedLoop(paths);
  if (shared === undefined) return undefined;
  const { loop, path } = shared;
  const way = fromTheBeginning(context, { root: first.root, through: callsOn(path) });
  const value = {
    ...way,
    loop,
    isOfOneModel: isOfOneModel(context),
    isOfOneInput: isOfOneInput(context),
    callsOthers: callsAnotherModel(context),
  };
  return { value, span: { start: loop.start, end: loop.end } };
}

/** A training loop that shares no loop with the first one, where the script calls more than one model. */
export function otherLoops(context: SetupContext): ScriptValue<true> | undefined {
  const paths = context.trainingLoops.loops.map(pathTo);
  if (paths.length < 2 || sharedLoop(paths) !== undefined || !callsAnotherModel(context)) return undefined;
  const isFirst = (path: readonly Place[]): boolean =>
    path.some((place) => place.kind === "loop" && passes(paths[0] ?? [], place));
  const other = context.trainingLoops.loops[paths.findIndex((path) => !isFirst(path))];
  return other && { value: true, span: other.loop };
}

/** The script calls one model, in one place of the iteration, and keeps no copy of it, whatever steps it. */
function isOfOneInput(context: SetupContext): boolean {
  if (keepsCopy(context)) return false;
  const { resolver } = context;
  const made = resolver.index.calls
    .filter((call) => isModelCall(context, call))
    .flatMap((call) => [...identify(resolver, call.callee, []).constructions]);
  const [model, ...others] = new Set(made);
  if (model === undefined) return callsOnceInItsLoop(context);
  if (others.length > 0) return false;
  const forward = forwardOfModel(context, model);
  return isCalledOnce(forward) && !takesJoined(context.resolver, forward?.value.call);
}

/** Where the file does not say which model its training function gets: the one loop calls one model, in one place. */
function callsOnceInItsLoop(context: SetupContext): boolean {
  const { resolver, trainingLoops } = context;
  const [training, ...others] = trainingLoops.loops;
  if (training === undefined || others.length > 0) return false;
  const { loop } = training;
  const calls = [...callsWithin(resolver.index, loop)];
  const [call, ...more] = calls.filter((one) => isModelCall(context, one));
  if (call === undefined || more.length > 0 || calls.some((one) => leadsToModel(context, one))) return false;
  if (!isParameter(context, call.callee)) return false;
  const statement = loop.body.find((one) => isWithin(call, one));
  return statement !== undefined && !isRepeatedIn(call, statement) && !takesJoined(context.resolver, call);
}

/** What a function is given, also where it is kept in `self.model` first. */
function isParameter({ resolver }: SetupContext, callee: Expression): boolean {
  const isOne = (name: Expression): boolean =>
    name.kind === "Name" && isOnlyBoundBy(resolver.scopes.lookup(name), ({ kind }) => kind === "parameter");
  if (callee.kind === "Name") return isOne(callee);
  const values = resolver.valuesOf(callee);
  return values.length > 0 && values.every(isOne);
}

/** `loss = compute_loss(model, batch)`: a function of this file that calls a model. */
function leadsToModel(context: SetupContext, call: Call): boolean {
  const target = context.resolver.functionOf(call);
  return target !== undefined && someNode(target, (one) => one.kind === "Call" && isModelCall(context, one));
}

function isCalledOnce(forward: ScriptValue<ScriptForward> | undefined): boolean {
  return forward?.value.others.length === 0 && !forward.value.isRepeated;
}

/** A call of another model than the one that is trained; what a module calls of its own is a part of it. */
function callsAnotherModel(context: SetupContext): boolean {
  const { resolver } = context;
  const trained = modelOf(context)?.value.construction;
  return resolver.index.calls.some((call) => {
    if (!isModelCall(context, call)) return false;
    const { constructions } = identify(resolver, call.callee, []);
    return constructions.size > 0 && (trained === undefined || !constructions.has(trained));
  });
}

/** A call of a model, but not in a method of a module, where it is a part of that module. */
function isModelCall({ resolver }: SetupContext, call: Call): boolean {
  if (resolver.roleOf(call.callee) !== "model") return false;
  const within = enclosingFunction(call);
  const owner = within?.kind === "FunctionDefinition" ? enclosingClass(within) : undefined;
  return owner === undefined || !resolver.isModuleClass(owner);
}

/** A loop of this file that hands loss and optimizer to what runs the backward. */
function iterationOfHandedLoss(context: SetupContext): ScriptValue<ScriptIteration> | undefined {
  const loop = loopOfHandedLoss(context.resolver);
  if (loop === undefined) return undefined;
  const value = {
    ...wayTo(context, loop),
    loop,
    isOfOneModel: false,
    isOfOneInput: true,
    callsOthers: false,
  };
  return { value, span: { start: loop.start, end: loop.end } };
}

/** The loop in another file; what the script says of its model there is not followed, so the loop itself is the step. */
function iterationElsewhere(context: SetupContext): ScriptValue<ScriptIteration> | undefined {
  const { elsewhere } = context;
  const shared = elsewhere && sharedLoop(elsewhere.paths);
  if (elsewhere === undefined || shared === undefined) return undefined;
  const { root, through } = wayTo(context, elsewhere.call);
  const { loop, path } = shared;
  const value = {
    root,
    through: [...through, ...elsewhere.through, ...callsOn(path)],
    loop,
    isOfOneModel: false,
    isOfOneInput: true,
    callsOthers: false,
  };
  return { value, span: elsewhere.call };
}

/** `for model, optimizer in zip(models, optimizers)`, `for i in range(5)` with `optimizers[i]`: each pass trains another model. */
function isOverOptimizers({ loop, loader, steps }: TrainingLoop): boolean {
  if (loop.kind !== "For" || loader !== undefined) return false;
  const isOfPass = (node: Node): boolean =>
    node.kind === "Name" && someNode(loop.target, (one) => one.kind === "Name" && one.id === node.id);
  return steps.some(({ subject }) => {
    if (subject === undefined) return false;
    if (subject.kind === "Subscript") return isOfPass(subject.index);
    return isOfPass(subject);
  });
}

/** The innermost loop, some left out, that all ways lead through, and the way to it. */
function sharedLoop(
  paths: readonly (readonly Place[])[],
  leftOut?: ReadonlySet<LoopNode>,
): { readonly loop: LoopNode; readonly path: readonly Place[] } | undefined {
  const [path = []] = paths;
  const last = path.findLastIndex(
    (place) =>
      place.kind === "loop" &&
      leftOut?.has(place.node) !== true &&
      paths.every((other) => passes(other, place)),
  );
  const place = path[last];
  return place?.kind === "loop" ? { loop: place.node, path: path.slice(0, last) } : undefined;
}

function passes(path: readonly Place[], { node }: Place & { readonly kind: "loop" }): boolean {
  return path.some((place) => place.kind === "loop" && place.node === node);
}

const copying =
  /^(copy\.deepcopy|torch\.optim\.swa_utils\.AveragedModel|timm\.utils\.(model_ema\.)?ModelEma\w*|ema_pytorch\.EMA|torch_ema\.\w+)$/;

/** `p.clone()` for every parameter of a model: a copy of its weights is kept. */
function copiesParameters({ callee }: Call): boolean {
  if (callee.kind !== "Attribute" || callee.attribute.id !== "clone") return false;
  for (let node: Node | undefined = callee.parent; node !== undefined; node = node.parent) {
    if (node.kind === "Comprehension" && node.clauses.some(({ iterable }) => isOverParameters(iterable)))
      return true;
    if (node.kind === "For" && isOverParameters(node.iterable)) return true;
  }
  return false;
}

function isOverParameters(iterable: Expression): boolean {
  return (
    iterable.kind === "Call" &&
    iterable.callee.kind === "Attribute" &&
    /^((named_)?parameters|state_dict|items|values)$/.test(iterable.callee.attribute.id)
  );
}

/** The script makes another model of one that it has, or keeps its weights a second time. */
function keepsCopy({ resolver }: SetupContext): boolean {
  return resolver.index.calls.some(
    (call) => copiesParameters(call) || copying.test(resolver.qualifiedName(call.callee) ?? ""),
  );
}

/** One optimizer steps one model, the script neither calls nor keeps another, and its loop keeps no outputs. */
function isOfOneModel(context: SetupContext): boolean {
  const { resolver } = context;
  const trained = modelOf(context)?.value.construction;
  const optimizer = optimizerOf(context);
  if (trained === undefined || optimizer === undefined) return false;
  if (isUnusualStep(context, optimizer.span)) return false;
  if (!isCalledOnce(forwardOf(context)) || keepsCopy(context) || keepsOutputs(context)) return false;
  return resolver.index.calls.every((call) => {
    if (resolver.roleOf(call.callee) !== "model") return true;
    const { constructions } = identify(resolver, call.callee, []);
    return constructions.size === 0 || constructions.has(trained);
  });
}
