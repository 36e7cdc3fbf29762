/** Loops of few rounds, by what they go over or where they break off: what each of them adds is no pile. */
import { lastName } from "../../python/last-name";
import type { Call, Expression, Subscript, While } from "../../python/tree";
import type { Resolver } from "../resolve";
import type { Loop } from "./reach";

/** The most rounds of a short loop whose rounds each keep activations. */
const shortRange = 4;

/** A loop over a display, or over a variable that only ever holds displays, or of at most `most` written-out rounds. */
export function isShortLoop(loop: Loop, resolver: Resolver, most = shortRange): boolean {
  if (breaksOff(loop, resolver, most)) return true;
  if (loop.kind === "While") return countsUpTo(loop, resolver, most);
  const pending: Expression[] = [loop.iterable];
  for (let steps = 0; pending.length > 0; steps++) {
    const at = pending.pop();
    if (at === undefined || steps > 20) return false;
    if (at.kind === "List" || at.kind === "Tuple" || at.kind === "Set" || at.kind === "Dict") {
      if (at.kind !== "Dict" && at.elements.length === 0) return false; // filled elsewhere
      if (at.kind === "Dict" && at.entries.length === 0) return false;
    } else if (at.kind === "Name" || at.kind === "Attribute") {
      const values = resolver.valuesOf(at);
      if (values.length === 0) return false;
      pending.push(...values);
    } else if (at.kind === "Conditional") {
      pending.push(at.body, at.orelse);
    } else if (at.kind === "Comprehension") {
      const [clause, another] = at.clauses;
      if (clause === undefined || another !== undefined) return false;
      pending.push(clause.iterable);
    } else if (at.kind === "Subscript" && isOfTokens(at, resolver)) {
      pending.push(at.object);
    } else if (at.kind === "Call") {
      const inner = shortArguments(at, resolver, most);
      if (inner === undefined) return false;
      pending.push(...inner);
    } else return false;
  }
  return true;
}

/** `for i, batch in enumerate(loader): if i >= 3: break`, the test at the head of the body or anywhere in it. */
function breaksOff(loop: Loop, resolver: Resolver, most: number): boolean {
  if (loop.kind !== "For") return false;
  const { target, iterable, body } = loop;
  const counter = target.kind === "Tuple" ? target.elements[0] : target;
  const counts = iterable.kind === "Call" ? (resolver.qualifiedName(iterable.callee) ?? "") : "";
  const isCounter = counts === (target.kind === "Tuple" ? "builtins.enumerate" : "builtins.range");
  if (!isCounter || counter?.kind !== "Name") return false;
  return body.some(
    (statement) =>
      statement.kind === "If" &&
      statement.body.some(({ kind }) => kind === "Break" || kind === "Return") &&
      reaches(statement.test, counter.id, resolver, most),
  );
}

/** `i >= 3`, `i == 3`. */
function reaches(test: Expression, counter: string, resolver: Resolver, most: number): boolean {
  if (
    test.kind !== "Comparison" ||
    test.operators.length !== 1 ||
    !/^(>|>=|==)$/.test(test.operators[0] ?? "")
  )
    return false;
  const [left, right] = test.operands;
  return left?.kind === "Name" && left.id === counter && isFew(right, resolver, most);
}

/** `while step < 3:` where the body counts `step += 1`. */
function countsUpTo({ test, body }: While, resolver: Resolver, most: number): boolean {
  if (test.kind !== "Comparison" || test.operators.length !== 1 || !/^<=?$/.test(test.operators[0] ?? ""))
    return false;
  const [counter, end] = test.operands;
  if (counter?.kind !== "Name" || !isFew(end, resolver, most)) return false;
  return body.some(
    (statement) =>
      statement.kind === "AugmentedAssign" &&
      statement.operator === "+" &&
      statement.target.kind === "Name" &&
      statement.target.id === counter.id &&
      statement.value.kind === "Integer",
  );
}

function isFew(length: Expression | undefined, resolver: Resolver, most: number): boolean {
  const [value, ...others] = length?.kind === "Name" ? resolver.valuesOf(length) : [length];
  return others.length === 0 && value?.kind === "Integer" && value.value <= most;
}

/** `batch["input_ids"]` of `batch = tokenizer(texts)`, or of a copy of it on the GPU: as many as there are texts. */
function isOfTokens({ object, index }: Subscript, resolver: Resolver): boolean {
  if (index.kind !== "String") return false;
  const values = object.kind === "Name" ? resolver.valuesOf(object) : [object];
  return (
    values.length > 0 &&
    values.every(
      (value) =>
        (value.kind === "Call" && isTokenizing(value)) ||
        (value.kind === "Comprehension" && value.flavour === "dict"),
    )
  );
}

function isTokenizing({ callee }: Call): boolean {
  return /tokenizer$/i.test(lastName(callee) ?? "");
}

/** Methods of dictionaries and of tensors that change nothing about how many there are. */
const sameLength = /^(items|values|keys|cpu|cuda|to|tolist|numpy|detach)$/;

const shapedFirst = /^torch\.(zeros|ones|empty|rand|randn)$/;

/**
 * The arguments whose length decides that of `zip(a, b)`, `enumerate(a)`, `d.items()`, `tokenizer(texts)`; `[]` for a short
 * `range(3)` and for the rows of `torch.randn(1, 4, 10)`.
 */
function shortArguments(call: Call, resolver: Resolver, most: number): readonly Expression[] | undefined {
  const name = resolver.qualifiedName(call.callee);
  const [first] = call.positional;
  if (name === "builtins.range")
    return call.positional.length === 1 && isFew(first, resolver, most) ? [] : undefined;
  if (name !== undefined && shapedFirst.test(name)) {
    const rows = first?.kind === "Tuple" || first?.kind === "List" ? first.elements[0] : first;
    return rows?.kind === "Integer" && rows.value <= most ? [] : undefined;
  }
  if (/^builtins\.(enumerate|zip|reversed)$|^tqdm\..*tqdm$/.test(name ?? ""))
    return call.positional.slice(0, 1);
  if (isTokenizing(call)) return call.positional.slice(0, 1);
  const method = call.callee.kind === "Attribute" ? call.callee : undefined;
  return method && sameLength.test(method.attribute.id) ? [method.object] : undefined;
}
