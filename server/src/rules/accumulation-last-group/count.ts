/** What an accumulation guard counts: the index of the loop or a counter, where it begins and whether it begins anew. */
import type { Call, Expression, For, Name, Node } from "../../python/tree";
import { someNode, isWithin } from "../../python/walk";
import type { Resolver } from "../../torch/resolve";
import type { Accumulation, Place, TrainingLoop } from "../../torch/training-loop";
import { lastNameOf } from "../../torch/training-loop/classify";
import { isSlice, lengthOf } from "./length";

/** A guard that is one comparison and nothing else: no `or i + 1 == len(loader)` beside it. */
export interface PlainGuard {
  /** `(i + 1) % k == 0`, or the remainder itself where it is used as a truth value. */
  readonly test: Expression;
  /** What the test is when the optimizer steps. */
  readonly stepsWhen: boolean;
}

/** `undefined` when the condition is made of several, or not understood. */
export function plainGuard(resolver: Resolver, { branch }: Accumulation): PlainGuard | undefined {
  if (branch?.test === undefined) return undefined;
  let test: Expression = branch.test;
  let stepsWhen = branch.taken;
  for (let depth = 0; depth < 8; depth++) {
    switch (test.kind) {
      case "UnaryOperation":
        if (test.operator !== "not") return undefined;
        test = test.operand;
        stepsWhen = !stepsWhen;
        continue;
      case "NamedExpression":
        test = test.value;
        continue;
      case "Name":
      case "Attribute": {
        const [value, other] = resolver.valuesOf(test);
        if (value === undefined || other !== undefined) return undefined;
        test = value;
        continue;
      }
      case "Comparison":
        return test.operands.length === 2 ? { test, stepsWhen } : undefined;
      case "BinaryOperation":
        return test.operator === "%" ? { test, stepsWhen } : undefined;
      default:
        return undefined;
    }
  }
  return undefined;
}

/** What is counted, with a number added to it: `i` and 1 in `i + 1`. */
export interface Counted {
  readonly variable: Name;
  readonly offset: number;
}

/** The counted variable of a guard; arguments of helpers on the way to the guard are followed. */
export function countedBy(
  resolver: Resolver,
  { test }: PlainGuard,
  places: readonly Place[],
): Counted | undefined {
  const operands = test.kind === "Comparison" ? test.operands : [test];
  const remainder = operands.find(
    (operand) => operand.kind === "BinaryOperation" && operand.operator === "%",
  );
  const whole = remainder?.kind === "BinaryOperation" ? remainder.left : operands[0];
  if (whole === undefined) return undefined;
  return followed(resolver, withOffset(whole), places);
}

/** The variable outside the helpers on the path that is handed in for a parameter. */
function followed(
  resolver: Resolver,
  counted: Counted | undefined,
  places: readonly Place[],
): Counted | undefined {
  let current = counted;
  for (let index = places.length - 1; index >= 0 && current !== undefined; index--) {
    const place = places[index];
    if (place?.kind !== "call" || place.target.kind !== "FunctionDefinition") continue;
    const [binding, other] = resolver.scopes.lookup(current.variable);
    if (other !== undefined || binding?.kind !== "parameter" || binding.scope.owner !== place.target)
      continue;
    const argument = resolver.argumentFor(place.call, place.target, binding.name);
    const given = argument === undefined ? undefined : withOffset(argument);
    current = given && { variable: given.variable, offset: current.offset + given.offset };
  }
  return current;
}

function withOffset(expression: Expression): Counted | undefined {
  if (expression.kind === "Name") return { variable: expression, offset: 0 };
  if (expression.kind !== "BinaryOperation") return undefined;
  const { left, right, operator } = expression;
  if (operator !== "+" && operator !== "-") return undefined;
  if (left.kind === "Name" && right.kind === "Integer") {
    return { variable: left, offset: operator === "+" ? right.value : -right.value };
  }
  const commuted = operator === "+" && left.kind === "Integer" && right.kind === "Name";
  return commuted ? { variable: right, offset: left.value } : undefined;
}

/** How the variable runs through one pass of the loop. */
export interface Pass {
  /** What one pass goes over: `loader` in `enumerate(tqdm(loader))`, or its length: `len(loader)` in `range(len(loader))`. */
  readonly source: Expression;
  readonly isLength: boolean;
  /** The variable's first value; `undefined` for counters that code of the loop moves. */
  readonly first: number | undefined;
}

/** `undefined` unless the variable begins anew with each pass of a loop that comes to an end by itself. */
export function passOf(resolver: Resolver, { variable }: Counted, loop: TrainingLoop): Pass | undefined {
  const node = loop.loop;
  if (node.kind !== "For" || isEndless(resolver, node.iterable, 0)) return undefined;
  const bindings = resolver.scopes.lookup(variable);
  const index = bindings.find((binding) => binding.kind === "for" && binding.node === node);
  if (index !== undefined) {
    // Other loops may use the same name.
    const changes = bindings.some((binding) => binding !== index && isWithin(binding.node, node));
    return changes ? undefined : indexOf(resolver, node, index.path);
  }
  if (!beginsAnew(variable, loop, resolver)) return undefined;
  const source = loop.loader ?? node.iterable;
  if (isEndless(resolver, source, 0) || isRange(resolver, unwrapped(resolver, node.iterable)))
    return undefined;
  return { source, isLength: false, first: undefined };
}

function indexOf(resolver: Resolver, loop: For, path: readonly number[]): Pass | undefined {
  const iterable = unwrapped(resolver, loop.iterable);
  if (iterable?.kind !== "Call") return undefined;
  const callee = resolver.qualifiedName(iterable.callee);
  const [first, second] = iterable.positional;
  if (first === undefined) return undefined;
  if (callee === "builtins.enumerate" && path.length === 1 && path[0] === 0) {
    const start = second ?? iterable.keywords.find(({ name }) => name.id === "start")?.value;
    if (start !== undefined && start.kind !== "Integer") return undefined;
    const source = unwrapped(resolver, first) ?? first;
    // `range(0, rollouts, size)`: numbers that somebody chose to go together.
    return isRange(resolver, source) ? undefined : { source, isLength: false, first: start?.value ?? 0 };
  }
  if (callee !== "builtins.range" || path.length > 0 || iterable.positional.length > 1) return undefined;
  return isLength(resolver, first, 0) ? { source: first, isLength: true, first: 0 } : undefined;
}

function isRange(resolver: Resolver, iterable: Expression | undefined): boolean {
  return iterable?.kind === "Call" && resolver.qualifiedName(iterable.callee) === "builtins.range";
}

/** `enumerate(loader)` in `tqdm(enumerate(loader))`, or what a name for it is bound to. */
function unwrapped(resolver: Resolver, iterable: Expression): Expression | undefined {
  let current: Expression = iterable;
  for (let depth = 0; depth < 6; depth++) {
    if (current.kind === "Call" && wraps(current)) {
      const [inner] = current.positional;
      if (inner === undefined) return undefined;
      current = inner;
      continue;
    }
    if (current.kind !== "Name") return current;
    const [value, other] = resolver.valuesOf(current);
    if (value?.kind !== "Call" || other !== undefined) return current;
    const isWrapper =
      wraps(value) || /^builtins\.(enumerate|range)$/.test(resolver.qualifiedName(value.callee) ?? "");
    if (!isWrapper) return current;
    current = value;
  }
  return undefined;
}

/** `tqdm(x)`, `iter(x)`: goes over the same. */
function wraps({ callee }: Call): boolean {
  return /^(tqdm|track|notebook_tqdm|progress_bar|alive_it|log_every|metric_logger|iter)$/.test(
    lastNameOf(callee) ?? "",
  );
}

/** `len(loader)`, `len(data) // batch_size`: not a number of steps that somebody chose. */
function isLength(resolver: Resolver, expression: Expression, depth: number): boolean {
  if (depth > 3) return false;
  if (expression.kind === "Name") {
    const [value, other] = resolver.valuesOf(expression);
    return value !== undefined && other === undefined && isLength(resolver, value, depth + 1);
  }
  return expression.kind === "Call" && resolver.qualifiedName(expression.callee) === "builtins.len";
}

/** Batches without an end, or a number of them that somebody chose and this file does not say. */
function isEndless(resolver: Resolver, iterable: Expression, depth: number): boolean {
  const isWord = (node: Node): boolean => {
    const name = node.kind === "Name" ? node.id : node.kind === "Attribute" ? node.attribute.id : undefined;
    if (name === undefined || !endlessName.test(name)) return false;
    const call = node.parent?.kind === "Call" && node.parent.callee === node ? node.parent : undefined;
    return call === undefined || !isSlice(resolver, call) || lengthOf(resolver, call) === undefined;
  };
  if (someNode(iterable, isWord)) return true;
  if (depth > 3) return false;
  const names: Name[] = [];
  someNode(iterable, (node) => {
    if (node.kind === "Name") names.push(node);
    return false;
  });
  return names.some((name) => resolver.valuesOf(name).some((value) => isEndless(resolver, value, depth + 1)));
}

const endlessName = /^(cycle|count|repeat|islice)$|infinit|endless|forever|repeated|stream/i;

/** `pending = 0` in the loop around, or in a function that runs once a pass. */
function beginsAnew(variable: Name, { loop, outerLoop }: TrainingLoop, resolver: Resolver): boolean {
  const bindings = resolver.scopes.lookup(variable);
  const [first] = bindings;
  if (first === undefined || first.kind === "parameter") return false;
  if (bindings.some(({ kind }) => kind !== "assignment" && kind !== "augmented")) return false;
  const resets = bindings.filter(
    ({ kind, value, node }) => kind === "assignment" && value?.kind === "Integer" && !isWithin(node, loop),
  );
  if (outerLoop !== undefined && isWithin(loop, outerLoop)) {
    return resets.some(({ node }) => isWithin(node, outerLoop));
  }
  return resets.some(
    ({ node }) => resolver.enclosingFunction(node) !== undefined && first.scope.owner.kind !== "Module",
  );
}
