/** Comprehensions and generator expressions. */
import type { Comprehension, ComprehensionClause } from "../../python/tree";
import { isUnknown, type Unknown } from "../unknown";
import { assign } from "./assign";
import { truthOf } from "./expressions";
import { Frame } from "./frame";
import { dictSet, iterate, iterated } from "./iteration";
import type { Interpreter } from "./interpreter";
import { keyOf, sizeLimit } from "./operations";
import { DictValue, IteratorValue, ListValue, SetValue, type Value } from "./values";

export function evaluateComprehension(interpreter: Interpreter, node: Comprehension): Value {
  const [only] = node.clauses;
  if (node.flavour === "generator" && node.clauses.length === 1 && only?.conditions.length === 0) {
    return lazyGenerator(interpreter, node, only);
  }
  const collector = new Collector(interpreter, node);
  const outer = interpreter.frame;
  const frame = new Frame("comprehension", outer, undefined);
  interpreter.references.retain(frame);
  interpreter.frame = frame;
  try {
    const fault = runClauses(interpreter, node.clauses, 0, collector);
    return fault ?? collector.result();
  } finally {
    interpreter.frame = outer;
    frame.leave(interpreter.references);
  }
}

/**
 * `(f(x) for x in xs)`: each element is evaluated when it is asked for, so that `y.extend(m(y[-1]) for m in layers)` sees
 * what the elements before it left. A generator with conditions or inner loops is run at once: where one of those is not
 * known, all of it is not.
 */
function lazyGenerator(interpreter: Interpreter, node: Comprehension, clause: ComprehensionClause): Value {
  const outer = interpreter.frame;
  const iterable = iterated(interpreter, interpreter.evaluate(clause.iterable), clause.iterable);
  const items = iterate(interpreter, iterable, clause.iterable);
  if (isUnknown(items)) return items;
  const frame = new Frame("comprehension", outer, undefined);
  frame.capture(node);
  const held: Value[] = [iterable, frame, outer];
  const generator: IteratorValue = new IteratorValue(elements(), held);
  return generator;

  function* elements(): Generator<Value, void> {
    const { references } = interpreter;
    const iterator = (items as Iterable<Value>)[Symbol.iterator]();
    for (;;) {
      const element = inFrame(interpreter, frame, () => elementAfter(interpreter, node, clause, iterator));
      if (element === undefined) break;
      yield element.value;
    }
    for (const value of held.splice(0)) references.disown(generator, value);
  }
}

/** Evaluates inside a generator's own scope, wherever it is asked from. */
function inFrame<Result>(interpreter: Interpreter, frame: Frame, evaluate: () => Result): Result {
  const caller = interpreter.frame;
  interpreter.frame = frame;
  try {
    return evaluate();
  } finally {
    interpreter.frame = caller;
  }
}

/** The element for the iterator's next item, as one temporary; undefined at its end. */
function elementAfter(
  interpreter: Interpreter,
  node: Comprehension,
  clause: ComprehensionClause,
  iterator: Iterator<Value>,
): { readonly value: Value } | undefined {
  const { references } = interpreter;
  const mark = references.mark();
  const next = iterator.next();
  if (next.done === true) return undefined;
  interpreter.tick();
  assign(interpreter, clause.target, next.value);
  const value = interpreter.evaluate(node.element);
  references.settle(mark, value);
  return { value };
}

/** Runs the clauses from `index` on; Unknown when it is not known what they go over. */
function runClauses(
  interpreter: Interpreter,
  clauses: readonly ComprehensionClause[],
  index: number,
  collector: Collector,
): Unknown | undefined {
  const clause = clauses[index];
  if (clause === undefined) return collector.take();
  const items = iterate(interpreter, interpreter.evaluate(clause.iterable), clause.iterable);
  if (isUnknown(items)) return items;
  const { references } = interpreter;
  const iterator = items[Symbol.iterator]();
  for (;;) {
    const mark = references.mark();
    const next = iterator.next();
    if (next.done === true) return undefined;
    interpreter.tick();
    assign(interpreter, clause.target, next.value);
    references.releaseTo(mark);
    const wanted = passes(interpreter, clause);
    if (isUnknown(wanted)) return wanted;
    const fault = wanted ? runClauses(interpreter, clauses, index + 1, collector) : undefined;
    references.releaseTo(mark);
    if (fault !== undefined) return fault;
  }
}

function passes(interpreter: Interpreter, clause: ComprehensionClause): boolean | Unknown {
  for (const condition of clause.conditions) {
    const answer = truthOf(interpreter, interpreter.evaluate(condition), condition);
    if (answer !== true) return answer;
  }
  return true;
}

/** Gathers elements; each is held until the finished value holds it. */
class Collector {
  private readonly items: Value[] = [];
  private readonly dict = new DictValue();

  constructor(
    private readonly interpreter: Interpreter,
    private readonly node: Comprehension,
  ) {
    interpreter.references.keep(this.dict);
  }

  take(): Unknown | undefined {
    const { interpreter, node } = this;
    if (this.items.length >= sizeLimit) return interpreter.unknown("size", node);
    if (node.key !== undefined) {
      const key = interpreter.evaluate(node.key);
      dictSet(interpreter, this.dict, key, interpreter.evaluate(node.element));
      return undefined;
    }
    const value = interpreter.evaluate(node.element);
    interpreter.references.retain(value);
    this.items.push(value);
    return undefined;
  }

  result(): Value {
    for (const item of this.items) this.interpreter.references.own(item);
    switch (this.node.flavour) {
      case "list":
        return new ListValue(this.items);
      case "generator":
        return new IteratorValue(this.items.values(), this.items);
      case "dict":
        return this.dict;
      case "set": {
        const set = new SetValue();
        for (const item of this.items) {
          const key = keyOf(item);
          if (key === undefined)
            return isUnknown(item)
              ? item
              : this.interpreter.unknown("unsupported", this.node, { what: "set" });
          set.entries.set(key, item);
        }
        return set;
      }
    }
  }
}
