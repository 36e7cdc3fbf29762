/** `itertools`. */
import { isUnknown, type Unknown } from "../../unknown";
import { CallArguments } from "../arguments";
import { binaryOperation, truthOf } from "../expressions";
import { itemsOf, iterate, iterated } from "../iteration";
import type { Interpreter } from "../interpreter";
import { integer } from "../numbers";
import { equal } from "../operations";
import { IteratorValue, TupleValue, type Native, type Value } from "../values";
import type { Span } from "../../../python/tree";

const nowhere: Span = { start: 0, end: 0 };

function iterator(source: Iterable<Value>, ...held: Value[]): IteratorValue {
  return new IteratorValue(source[Symbol.iterator](), held);
}

function* counting(start: Value, step: Value, interpreter: Interpreter): Iterable<Value> {
  for (let value = start; ; value = binaryOperation(interpreter, "+", value, step, nowhere)) {
    interpreter.tick();
    yield value;
  }
}

function* cycling(items: readonly Value[], interpreter: Interpreter): Iterable<Value> {
  while (items.length > 0) {
    for (const item of items) {
      interpreter.tick();
      yield item;
    }
  }
}

function* repeating(value: Value, times: number, interpreter: Interpreter): Iterable<Value> {
  for (let i = 0; i < times; i++) {
    interpreter.tick();
    yield value;
  }
}

function* chained(parts: readonly Iterable<Value>[]): Iterable<Value> {
  for (const part of parts) yield* part;
}

function chain(interpreter: Interpreter, given: readonly Value[], span: Span | undefined): Value {
  const sources = given.map((value) => iterated(interpreter, value, span));
  const parts: Iterable<Value>[] = [];
  for (const source of sources) {
    const items = iterate(interpreter, source, span);
    if (isUnknown(items)) return items;
    parts.push(items);
  }
  return iterator(chained(parts), ...sources);
}

/** Rows that a product may have. */
const mostRows = 100_000;

function products(pools: readonly (readonly Value[])[]): Value[][] | undefined {
  let rows: Value[][] = [[]];
  for (const pool of pools) {
    if (rows.length * pool.length > mostRows) return undefined;
    rows = rows.flatMap((row) => pool.map((item) => [...row, item]));
  }
  return rows;
}

function* islice(items: Iterable<Value>, start: number, stop: number, step: number): Iterable<Value> {
  if (stop <= start) return;
  let index = 0;
  for (const item of items) {
    if (index >= start && (index - start) % step === 0) yield item;
    if (++index >= stop) return;
  }
}

function choose(items: readonly Value[], size: number, ordered: boolean, repeat: boolean): Value[][] {
  const found: Value[][] = [];
  const pending: { readonly picked: number[] }[] = [{ picked: [] }];
  for (let next = pending.pop(); next !== undefined && found.length < 100_000; next = pending.pop()) {
    const { picked } = next;
    if (picked.length === size) {
      found.push(picked.map((position) => items[position] ?? null));
      continue;
    }
    const first = ordered ? 0 : (picked.at(-1) ?? 0) + (repeat || picked.length === 0 ? 0 : 1);
    for (let i = items.length - 1; i >= first; i--) {
      if (ordered && picked.includes(i)) continue;
      pending.push({ picked: [...picked, i] });
    }
  }
  return found;
}

function selection(ordered: boolean, repeat: boolean): Native {
  return (interpreter, args, span) => {
    const items = itemsOf(interpreter, args.at(0) ?? null, span);
    if (isUnknown(items)) return items;
    const size = integer(args.or(1, "r", items.length)) ?? items.length;
    return iterator(choose(items, size, ordered, repeat).map((row) => new TupleValue(row)));
  };
}

const accumulate: Native = (interpreter, args, span) => {
  const items = itemsOf(interpreter, args.at(0) ?? null, span);
  if (isUnknown(items)) return items;
  const combine = args.get(1, "func") ?? null;
  const initial = args.keywords.get("initial");
  const totals: Value[] = initial === undefined ? [] : [initial];
  for (const item of items) {
    const last = totals.at(-1);
    if (last === undefined) totals.push(item);
    else if (combine === null) totals.push(binaryOperation(interpreter, "+", last, item, span ?? nowhere));
    else
      totals.push(
        interpreter.references.keep(interpreter.call(combine, new CallArguments([last, item]), span)),
      );
  }
  return iterator(totals, ...totals);
};

const groupby: Native = (interpreter, args, span) => {
  const items = itemsOf(interpreter, args.at(0) ?? null, span);
  if (isUnknown(items)) return items;
  const key = args.get(1, "key") ?? null;
  const groups: { key: Value; items: Value[] }[] = [];
  for (const item of items) {
    const own = key === null ? item : interpreter.call(key, new CallArguments([item]), span);
    const last = groups.at(-1);
    if (last !== undefined && equal(last.key, own) === true) last.items.push(item);
    else groups.push({ key: own, items: [item] });
  }
  return iterator(groups.map((group) => new TupleValue([group.key, iterator(group.items)])));
};

const takewhile: Native = (interpreter, args, span) => {
  const items = itemsOf(interpreter, args.at(1) ?? null, span);
  if (isUnknown(items)) return items;
  const kept: Value[] = [];
  for (const item of items) {
    const answer: boolean | Unknown = truthOf(
      interpreter,
      interpreter.call(args.at(0) ?? null, new CallArguments([item]), span),
      span ?? nowhere,
    );
    if (isUnknown(answer)) return answer;
    if (!answer) break;
    kept.push(item);
  }
  return iterator(kept, ...kept);
};

export const iterableFunctions: Readonly<Record<string, Native>> = {
  "itertools.count": (interpreter, args) =>
    iterator(counting(args.or(0, "start", 0), args.or(1, "step", 1), interpreter)),
  "itertools.cycle": (interpreter, args, span) => {
    const items = itemsOf(interpreter, args.at(0) ?? null, span);
    return isUnknown(items) ? items : iterator(cycling(items, interpreter), ...items);
  },
  "itertools.repeat": (interpreter, args) => {
    const value = args.at(0) ?? null;
    return iterator(repeating(value, integer(args.or(1, "times", Infinity)) ?? Infinity, interpreter), value);
  },
  "itertools.chain": (interpreter, args, span) => chain(interpreter, args.positional, span),
  "itertools.chain.from_iterable": (interpreter, args, span) => {
    const sources = itemsOf(interpreter, args.at(0) ?? null, span);
    return isUnknown(sources) ? sources : chain(interpreter, sources, span);
  },
  "itertools.product": (interpreter, args, span) => {
    const pools: Value[][] = [];
    for (const value of args.positional) {
      const items = itemsOf(interpreter, value, span);
      if (isUnknown(items)) return items;
      pools.push(items);
    }
    const times = integer(args.keywords.get("repeat") ?? 1) ?? 1;
    const repeated = Array.from({ length: Math.min(times, 20) }, () => pools).flat();
    const rows = products(repeated);
    return rows === undefined
      ? interpreter.unknown("size", span)
      : iterator(rows.map((row) => new TupleValue(row)));
  },
  "itertools.islice": (interpreter, args, span) => {
    const source = iterated(interpreter, args.at(0) ?? null, span);
    const items = iterate(interpreter, source, span);
    if (isUnknown(items)) return items;
    const [first, second, third] = args.positional.slice(1).map((value) => integer(value));
    const [start, stop] = args.positional.length === 2 ? [0, first] : [first, second];
    return iterator(islice(items, start ?? 0, stop ?? Infinity, third ?? 1), source);
  },
  "itertools.pairwise": (interpreter, args, span) => {
    const items = itemsOf(interpreter, args.at(0) ?? null, span);
    if (isUnknown(items)) return items;
    return iterator(
      items.slice(1).map((item, i) => new TupleValue([items[i] ?? null, item])),
      ...items,
    );
  },
  "itertools.zip_longest": (interpreter, args, span) => {
    const rows: Value[][] = [];
    for (const value of args.positional) {
      const items = itemsOf(interpreter, value, span);
      if (isUnknown(items)) return items;
      rows.push(items);
    }
    const fill = args.keywords.get("fillvalue") ?? null;
    const longest = Math.max(0, ...rows.map((row) => row.length));
    return iterator(
      Array.from({ length: longest }, (_, i) => new TupleValue(rows.map((row) => row[i] ?? fill))),
      ...rows.flat(),
    );
  },
  "itertools.starmap": (interpreter, args, span) => {
    const rows = itemsOf(interpreter, args.at(1) ?? null, span);
    if (isUnknown(rows)) return rows;
    const results: Value[] = [];
    for (const row of rows) {
      const items = itemsOf(interpreter, row, span);
      if (isUnknown(items)) return items;
      results.push(
        interpreter.references.keep(interpreter.call(args.at(0) ?? null, new CallArguments(items), span)),
      );
    }
    return iterator(results, ...results);
  },
  "itertools.accumulate": accumulate,
  "itertools.groupby": groupby,
  "itertools.takewhile": takewhile,
  "itertools.combinations": selection(false, false),
  "itertools.combinations_with_replacement": selection(false, true),
  "itertools.permutations": selection(true, false),
};
