/** Methods of `list` and `tuple`. */
import { isUnknown } from "../../unknown";
import { CallArguments } from "../arguments";
import type { Interpreter } from "../interpreter";
import { iterate, itemsOf } from "../iteration";
import { integer } from "../numbers";
import { equal } from "../operations";
import { IteratorValue, ListValue, TupleValue, type Native, type Value } from "../values";
import { sortedItems } from "./functions";

function listOf(value: Value | undefined): ListValue {
  return value instanceof ListValue ? value : new ListValue([]);
}

const index: Native = (interpreter, args, span) => {
  const sequence = args.at(0);
  const items = sequence instanceof ListValue || sequence instanceof TupleValue ? sequence.items : [];
  const wanted = args.at(1) ?? null;
  for (const [i, item] of items.entries()) {
    const same = item === wanted ? true : equal(item, wanted);
    if (same === true) return i;
    if (same === undefined) return args.unknown() ?? interpreter.unknown("tensorValue", span);
  }
  return interpreter.raise("ValueError", "value is not in list", span);
};

const count: Native = (interpreter, args, span) => {
  const sequence = args.at(0);
  const items = sequence instanceof ListValue || sequence instanceof TupleValue ? sequence.items : [];
  let found = 0;
  for (const item of items) {
    const same = equal(item, args.at(1) ?? null);
    if (same === undefined) return args.unknown() ?? interpreter.unknown("tensorValue", span);
    if (same) found++;
  }
  return found;
};

const pop: Native = (interpreter, args, span) => {
  const list = listOf(args.at(0));
  const position = integer(args.or(1, "index", -1));
  if (position === undefined) return args.unknown() ?? interpreter.unknown("call", span, { name: "pop" });
  const at = position < 0 ? position + list.items.length : position;
  if (at < 0 || at >= list.items.length)
    return interpreter.raise("IndexError", "pop index out of range", span);
  const [item] = list.items.splice(at, 1);
  interpreter.references.disown(list, item ?? null);
  return item ?? null;
};

/** One more at the end or at the beginning; a deque that is full drops one at the other end. */
function add(interpreter: Interpreter, list: ListValue, item: Value, end: "push" | "unshift"): void {
  interpreter.references.adopt(list, item);
  list.items[end](item);
  if (list.items.length <= list.most) return;
  const dropped = end === "push" ? list.items.shift() : list.items.pop();
  interpreter.references.disown(list, dropped ?? null);
}

export const listMethods: Readonly<Record<string, Native>> = {
  append: (interpreter, args) => {
    add(interpreter, listOf(args.at(0)), args.at(1) ?? null, "push");
    return null;
  },
  extend: (interpreter, args, span) => {
    const list = listOf(args.at(0));
    const given = args.at(1) ?? null;
    // an iterator's next item may be made of the items that are already in the list
    const isIterator = given instanceof IteratorValue;
    const items = isIterator ? iterate(interpreter, given, span) : itemsOf(interpreter, given, span);
    if (isUnknown(items)) {
      // how many there are is not known either: one Unknown stands for them
      list.items.push(interpreter.note(items));
      return null;
    }
    for (const item of items) add(interpreter, list, item, "push");
    return null;
  },
  insert: (interpreter, args) => {
    const list = listOf(args.at(0));
    const item = args.at(2) ?? null;
    interpreter.references.adopt(list, item);
    const at = integer(args.at(1) ?? 0) ?? 0;
    list.items.splice(at < 0 ? Math.max(0, at + list.items.length) : at, 0, item);
    return null;
  },
  pop,
  popleft: (interpreter, args, span) => pop(interpreter, new CallArguments([args.at(0) ?? null, 0]), span),
  appendleft: (interpreter, args) => {
    add(interpreter, listOf(args.at(0)), args.at(1) ?? null, "unshift");
    return null;
  },
  remove: (interpreter, args, span) => {
    const list = listOf(args.at(0));
    const at = index(interpreter, args, span);
    if (typeof at !== "number") return at;
    for (const item of list.items.splice(at, 1)) interpreter.references.disown(list, item);
    return null;
  },
  clear: (interpreter, args) => {
    const list = listOf(args.at(0));
    for (const item of list.items.splice(0)) interpreter.references.disown(list, item);
    return null;
  },
  reverse: (_, args) => {
    listOf(args.at(0)).items.reverse();
    return null;
  },
  sort: (interpreter, args, span) => {
    const list = listOf(args.at(0));
    const { keywords } = args;
    const order = sortedItems(
      interpreter,
      list.items,
      keywords.get("key") ?? null,
      keywords.get("reverse") ?? false,
      span,
    );
    if (isUnknown(order)) list.items.fill(order);
    else list.items.splice(0, list.items.length, ...order);
    return null;
  },
  extendleft: (interpreter, args, span) => {
    const list = listOf(args.at(0));
    const items = itemsOf(interpreter, args.at(1) ?? null, span);
    if (isUnknown(items)) list.items.unshift(interpreter.note(items));
    else for (const item of items) add(interpreter, list, item, "unshift");
    return null;
  },
  copy: (_, args) => new ListValue([...listOf(args.at(0)).items], listOf(args.at(0)).most),
  index,
  count,
};

export const tupleMethods: Readonly<Record<string, Native>> = {
  index,
  count,
  numel: (interpreter, args, span) => {
    const tuple = args.at(0);
    let product = 1;
    for (const item of tuple instanceof TupleValue ? tuple.items : []) {
      const size = integer(item);
      if (size === undefined)
        return isUnknown(item) ? item : interpreter.unknown("call", span, { name: "numel" });
      product *= size;
    }
    return product;
  },
};
