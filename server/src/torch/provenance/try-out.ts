/** Models that are run on made-up data only to see whether they run and what shape comes out. */
import { FileMemo } from "../../python/file-memo";
import type { Scope, Scopes } from "../../python/scope";
import type { Call, Expression, Node } from "../../python/tree";
import { ancestors, enclosingFunction, enclosingLoop, isStatement, someNode } from "../../python/walk";
import { roleKeepingMethods } from "../api";
import { keepsGraph } from "../api-graph";
import type { Provenance } from "../provenance";
import type { Resolver } from "../resolve";
import { argumentsOf } from "./shapes";

const exporters = {
  methods: ["export", "dynamo_export", "trace"],
  names: /^torch\.(onnx\.(dynamo_)?export|export\.export|jit\.trace)$/,
};
const checks = { methods: ["assert_close", "assert_allclose"], names: /^torch\.testing\.\w+$/ };

/**
 * The data of a forward is made up (or its function is a test), and its result is only printed, compared or asked for its
 * shape. Where nothing looks at the result, the forward may be measured: a try-out only if no clock, profiler or statistic of
 * memory stands beside it, or if the model is exported there, which needs an example and often a result to compare with. What
 * a function checks with `torch.testing` is one anyway.
 */
export function isTryOut(forward: Call, resolver: Resolver, provenance: Provenance): boolean {
  const owner = enclosingFunction(forward);
  const isTest = [...ancestors(forward)].some(
    (at) => at.kind === "FunctionDefinition" && at.name.id.startsWith("test_"),
  );
  if (isCalledIn(owner, checks, resolver)) return true;
  const madeUp = argumentsOf(forward).every((argument) => isMadeUp(argument, resolver));
  if (!isTest && !madeUp) return false;
  if (madeUp && enclosingLoop(forward) === undefined && isCalledIn(owner, exporters, resolver)) return true;
  const taking = madeUp ? takers : anythingButShapes;
  const carries = (value: Expression | undefined): boolean =>
    value !== undefined && provenance.carriedHere(value).sources.has(forward);
  const body = owner ?? resolver.module;
  const isTaken = someNode(body, (node) => {
    if (node.kind === "Return") return carries(node.value);
    if (madeUp && isPrinted(node, resolver)) return false;
    if (node.kind === "Attribute" && carries(node.object)) return taking.test(node.attribute.id);
    if (node.kind !== "Call" || node === forward || enclosingFunction(node) !== owner) return false;
    if (onlyLooks(node, resolver) || keepsGraph(resolver.qualifiedName(node.callee) ?? "")) return false;
    return argumentsOf(node).some(carries);
  });
  if (isTaken) return false;
  if (madeUp && isRunOnceUnread(forward) && !isMeasured(body, resolver)) return true;
  return someNode(
    body,
    (node) =>
      (node.kind === "Attribute" && carries(node.object)) ||
      (node.kind === "Call" && onlyLooks(node, resolver) && node.positional.some(carries)),
  );
}

/** A file of tests: what it calls `predict` or puts into eval mode is looked at once and dropped. */
export function isTestFile({ module }: Scopes): boolean {
  const { owner } = module;
  return owner.kind === "Module" && knownTestFiles.of(owner, () => importsTests(module));
}

const knownTestFiles = new FileMemo<boolean>();

function importsTests({ bindings }: Scope): boolean {
  return [...bindings.values()].some((ofName) =>
    ofName.some(({ importPath }) => /^pytest(\.|$)|^unittest($|\.(?!mock))/.test(importPath ?? "")),
  );
}

/** What takes the values out of a tensor. */
const takers = /^(item|tolist|numpy|detach|argmax|cpu|data)$/;
/** A function called `test_net` may be an evaluation: there only a look at the shape is none. */
const anythingButShapes = /^(?!(shape|size|dim|ndim|numel|dtype|device)$)/;

/** Once, and its result goes nowhere but into a variable. */
function isRunOnceUnread(forward: Call): boolean {
  if (enclosingLoop(forward) !== undefined) return false;
  const { parent } = forward;
  if (parent?.kind === "ExpressionStatement") return true;
  if (parent?.kind !== "Assign" || parent.value !== forward) return false;
  return parent.targets.every(
    (target) =>
      target.kind === "Name" ||
      (target.kind === "Tuple" && target.elements.every(({ kind }) => kind === "Name")),
  );
}

const measuring =
  /^(time|timeit|tracemalloc|psutil|memory_profiler)\.|^torch\.(cuda|profiler|autograd\.profiler|utils\.(benchmark|flop_counter))\.(?!(is_available|device_count|manual_seed|manual_seed_all)$)/;

function isMeasured(body: Node, resolver: Resolver): boolean {
  return someNode(
    body,
    (node) => node.kind === "Call" && measuring.test(resolver.qualifiedName(node.callee) ?? ""),
  );
}

/** `print(f"loss: {penalty(out)}")`. */
function isPrinted(node: Node, resolver: Resolver): boolean {
  for (const at of ancestors(node)) {
    if (at.kind === "Call" && resolver.qualifiedName(at.callee) === "builtins.print") return true;
    if (isStatement(at)) return false;
  }
  return false;
}

function onlyLooks({ callee }: Call, resolver: Resolver): boolean {
  const name = resolver.qualifiedName(callee) ?? "";
  return /^builtins\.(print|type|len|isinstance|enumerate|zip)$|^torch\.(allclose|equal|isclose|testing\.\w+)$/.test(
    name,
  );
}

/** `torch.onnx.export(model, x, path)` or the like in the same function. */
function isCalledIn(
  owner: Node | undefined,
  { methods, names }: typeof exporters,
  resolver: Resolver,
): boolean {
  return methods.some((method) =>
    resolver.index.callsByName
      .get(method)
      ?.some(
        (call) => enclosingFunction(call) === owner && names.test(resolver.qualifiedName(call.callee) ?? ""),
      ),
  );
}

/** `torch.empty(2, 3).normal_()`, `torch.zeros(20, 512).long()`: made up still. */
const stillMadeUp =
  /^(normal|uniform|random|zero|fill)_$|^(long|int|bool|type|unsqueeze|squeeze|view|reshape|repeat|expand|permute|transpose|flatten)$/;

/** `torch.randn(1, 3, 224, 224).cuda()` and whatever else holds no data; numbers and flags beside it. */
export function isMadeUp(
  argument: Expression,
  resolver: Resolver,
  within: readonly Expression[] = [],
): boolean {
  if (/^(Integer|Float|Boolean|String|None)$/.test(argument.kind)) return true;
  if (argument.kind !== "Name") return isGenerated(argument, resolver, within);
  // `x = x.to(device)` says nothing of where `x` comes from: something else has to.
  const values = resolver.valuesOf(argument).filter((value) => !within.includes(value));
  return values.length > 0 && values.every((value) => isGenerated(value, resolver, within));
}

/** `tokens = tokens[:, -context:]` leads back to itself: what it was before is not seen, so it may be data. */
function isGenerated(value: Expression, resolver: Resolver, within: readonly Expression[]): boolean {
  if (within.includes(value)) return false;
  if (value.kind === "Conditional") {
    return [value.body, value.orelse].every((one) => isGenerated(one, resolver, within));
  }
  if (value.kind === "List" || value.kind === "Tuple") {
    return value.elements.every((one) => isMadeUp(one, resolver, [...within, value]));
  }
  if (value.kind === "BinaryOperation") {
    return [value.left, value.right].every((one) => isMadeUp(one, resolver, [...within, value]));
  }
  let at: Expression = value;
  while (at.kind === "Subscript") at = at.object;
  if (at !== value) return isMadeUp(at, resolver, [...within, value]);
  while (
    at.kind === "Call" &&
    at.callee.kind === "Attribute" &&
    (roleKeepingMethods.has(at.callee.attribute.id) || stillMadeUp.test(at.callee.attribute.id))
  )
    at = at.callee.object;
  if (at.kind === "Name" && at !== value) return isMadeUp(at, resolver, [...within, value]);
  const name = at.kind === "Call" ? resolver.qualifiedName(at.callee) : undefined;
  if (at.kind === "Call" && name === "torch.autograd.Variable" && at.positional[0] !== undefined)
    return isMadeUp(at.positional[0], resolver, [...within, value]);
  if (at.kind === "Call" && name === "torch.tensor") return isLiteral(at.positional[0]);
  return (
    name !== undefined && /^torch\.(((rand|randn|ones|zeros|empty|randint|full)(_like)?)|arange)$/.test(name)
  );
}

/** `[[1, 9, 10, 11, 2]]`. */
function isLiteral(value: Expression | undefined): boolean {
  if (value?.kind === "List" || value?.kind === "Tuple") return value.elements.every(isLiteral);
  return value?.kind === "Integer" || value?.kind === "Float" || value?.kind === "UnaryOperation";
}
