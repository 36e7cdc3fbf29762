/**
 * Models that visibly never leave the CPU in a script that uses a GPU for something else: every use is seen, from the
 * construction on, and none places them. What they give lies in host memory, since they run on nothing else.
 */
import { lastName } from "../python/last-name";
import type { Attribute, Call, ClassDefinition, Expression, Name } from "../python/tree";
import { modelWrappers, roleKeepingMethods } from "./api";
import type { TorchFacts } from "./facts";
import { callsWithin } from "./resolve-index";

/** Methods of modules that leave them where they are. */
const stationary =
  /^(train|eval|parameters|named_parameters|state_dict|load_state_dict|requires_grad_|zero_grad|modules|named_modules|children|named_children|forward|half|float|double|bfloat16|cpu)$/;
const moving = /^(cuda|to|to_empty|xpu|npu|mps|hpu|ipu)$/;
/** What makes new modules and tensors on a device that nothing else names. */
const defaults = /^torch\.(set_default_device|set_default_tensor_type|device)$/;
const longestWay = 40;
const mostUses = 200;

export function staysOnCpu(torch: TorchFacts, model: Expression): boolean {
  if (placesByDefault(torch)) return false;
  const seen = new Set<Expression>();
  const pending: Expression[] = [model];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    if (seen.has(at)) continue;
    seen.add(at);
    const before = seen.size > longestWay ? undefined : waysBehind(torch, at);
    if (before === undefined) return false;
    pending.push(...before);
  }
  return true;
}

/** Where a model comes from; `undefined` where it may be moved, or where that is not seen. */
function waysBehind(torch: TorchFacts, at: Expression): readonly Expression[] | undefined {
  if (at.kind === "Name") return isMovedByName(torch, at) ? undefined : valuesOf(torch, at);
  if (at.kind !== "Call") return undefined;
  const { resolve } = torch;
  const { callee } = at;
  if (callee.kind === "Attribute" && roleKeepingMethods.has(callee.attribute.id)) {
    return leavesInPlace(torch, at) ? [callee.object] : undefined;
  }
  const factory = resolve.functionOf(at);
  if (factory !== undefined) return resolve.returnedValues(factory);
  return isMadeOnCpu(torch, at) ? [] : undefined;
}

/** What is bound to a variable, or given for a parameter, when all of it is seen. */
function valuesOf({ resolve, scopes }: TorchFacts, name: Name): readonly Expression[] | undefined {
  const bindings = scopes.lookup(name);
  const isAssigned = bindings.every(({ kind, path }) => kind === "assignment" && path.length === 0);
  const isGiven = bindings.length === 1 && bindings[0]?.kind === "parameter";
  if (!isAssigned && !isGiven) return undefined;
  const values = resolve.valuesGiven(name);
  return values.length === 0 ? undefined : values;
}

/** Whether a use of the variable may place the model; what helpers of this file do with their parameter counts. */
function isMovedByName(torch: TorchFacts, name: Name): boolean {
  const { scopes } = torch;
  const from = scopes.lookup(name)[0]?.scope;
  if (from === undefined) return true;
  const pending = [...scopes.referencesTo(from, name.id)];
  const seen = new Set<Name>();
  for (let read = pending.pop(); read !== undefined; read = pending.pop()) {
    if (seen.has(read)) continue;
    if (seen.add(read).size > mostUses) return true;
    const further = usesBehind(torch, read);
    if (further === undefined) return true;
    pending.push(...further);
  }
  return false;
}

/** The uses of the parameter that a use is given for; `undefined` where the use may place the model. */
function usesBehind(torch: TorchFacts, read: Name): readonly Name[] | undefined {
  const { parent } = read;
  if (parent?.kind === "Attribute") return isUsedInPlace(torch, read, parent) ? [] : undefined;
  if (parent?.kind !== "Call") return undefined;
  if (parent.callee === read) return [];
  const { resolve, scopes } = torch;
  if (/^builtins\.|^torch\.save$/.test(resolve.qualifiedName(parent.callee) ?? "")) return [];
  const target = resolve.functionOf(parent);
  const parameter = target?.parameters.find(
    ({ name }) => resolve.argumentFor(parent, target, name.id) === read,
  );
  return target && parameter && scopes.referencesTo(scopes.scopeFor(target), parameter.name.id);
}

/**
 * A method that moves nothing, or one of a class of this file: that is looked at where the model is made. What gives the model
 * itself back (`model.eval().cuda()`) is followed.
 */
function isUsedInPlace(torch: TorchFacts, read: Name, method: Attribute): boolean {
  const call = method.parent;
  if (call?.kind !== "Call" || call.callee !== method) return false;
  if (torch.resolve.functionOf(call) !== undefined) return true;
  if (!leavesInPlace(torch, call)) return false;
  if (!roleKeepingMethods.has(method.attribute.id)) return true;
  const { parent } = call;
  switch (parent?.kind) {
    case "Attribute":
      return isUsedInPlace(torch, read, parent);
    case "Assign":
      return parent.targets.every((target) => target.kind === "Name" && target.id === read.id);
    case "Call":
      return parent.callee === call;
    default:
      return parent?.kind === "ExpressionStatement";
  }
}

/** A class of this file that places nothing, or a module of a library, made without a word about devices. */
function isMadeOnCpu(torch: TorchFacts, made: Call): boolean {
  const { resolve } = torch;
  if (resolve.objectOf(made)?.role !== "model") return false;
  if (made.keywords.some(({ name }) => /device|gpu|cuda/i.test(name.id)) || made.keywordSpreads.length > 0)
    return false;
  const owner = resolve.constructedClass(made);
  if (owner !== undefined) return !placesParts(torch, owner);
  const name = resolve.qualifiedName(made.callee) ?? "";
  return /^(torch\.nn|torchvision\.models|timm)\./.test(name) && !modelWrappers.has(name);
}

/** The class, or one of this file that it builds, moves modules or tensors. */
function placesParts(torch: TorchFacts, owner: ClassDefinition): boolean {
  const { resolve } = torch;
  const classes = new Set(resolve.withBases(owner));
  for (const one of classes) {
    for (const call of callsWithin(resolve.index, one)) {
      const built = resolve.constructedClass(call);
      if (built !== undefined) classes.add(built);
      if (moving.test(lastName(call.callee) ?? "") && !leavesInPlace(torch, call)) return true;
    }
  }
  return false;
}

/** `model.eval()`, `model.to("cpu")`. */
function leavesInPlace(torch: TorchFacts, { callee, positional, keywords }: Call): boolean {
  const method = lastName(callee) ?? "";
  if (method !== "to") return stationary.test(method);
  const [device, another] = [...positional, ...keywords.map(({ value }) => value)];
  return device !== undefined && another === undefined && isCpu(torch, device);
}

function isCpu({ resolve }: TorchFacts, device: Expression): boolean {
  const values = device.kind === "Name" ? resolve.valuesOf(device) : [device];
  return (
    values.length > 0 &&
    values.every((value) => {
      const isMade = value.kind === "Call" && resolve.qualifiedName(value.callee) === "torch.device";
      const named = isMade && value.positional.length === 1 ? value.positional[0] : value;
      return named?.kind === "String" && named.value === "cpu";
    })
  );
}

/** `torch.set_default_device("cuda")`, `with torch.device("cuda"):`. */
function placesByDefault({ resolve }: TorchFacts): boolean {
  return resolve
    .callsOf((name) => defaults.test(name))
    .some(({ callee, parent }) => lastName(callee) !== "device" || parent?.kind === "With");
}

const making = /^torch\.(tensor|as_tensor|from_numpy|(Float|Long|Int|Double)?Tensor|autograd\.Variable)$/;
const shaping =
  /^(reshape|view|unsqueeze|squeeze|permute|transpose|float|long|double|type|contiguous|clone|expand|repeat|flatten)$/;

/** A tensor that the script makes of plain numbers or an array and puts nowhere: what is called with it lies on the CPU too. */
export function isMadeInHostMemory(torch: TorchFacts, tensor: Expression): boolean {
  if (placesByDefault(torch) || torch.resolve.callsOf((name) => /DataParallel$/.test(name)).length > 0)
    return false;
  return isMadeHere(torch, tensor, new Set());
}

function isMadeHere(torch: TorchFacts, at: Expression, seen: Set<Expression>): boolean {
  if (seen.has(at) || seen.size > longestWay) return false;
  seen.add(at);
  const { resolve } = torch;
  if (at.kind === "BinaryOperation")
    return isMadeHere(torch, at.left, seen) || isMadeHere(torch, at.right, seen);
  if (at.kind === "Name") {
    // `inp = inp.view(1, -1)` adds nothing to what the others say.
    const values = valuesOf(torch, at) ?? [];
    return values.length > 0 && values.every((value) => seen.has(value) || isMadeHere(torch, value, seen));
  }
  if (at.kind !== "Call" || at.keywords.some(({ name }) => name.id === "device")) return false;
  const [first] = at.positional;
  const name = resolve.qualifiedName(at.callee);
  if (name === "torch.autograd.Variable") return first !== undefined && isMadeHere(torch, first, seen);
  if (name !== undefined && making.test(name)) return true;
  if (at.callee.kind !== "Attribute" || !shaping.test(at.callee.attribute.id)) return false;
  const tensor = name === undefined ? at.callee.object : first;
  return tensor !== undefined && isMadeHere(torch, tensor, seen);
}
