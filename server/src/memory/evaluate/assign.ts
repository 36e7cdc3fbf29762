/** Assignment to names, attributes, items and patterns of them. */
import type { Expression, Span } from "../../python/tree";
import { isUnknown, type Unknown } from "../unknown";
import { deleteAttribute, setAttribute } from "./attributes";
import { iterate } from "./iteration";
import type { Interpreter } from "./interpreter";
import { deleteItem, setItem } from "./subscripts";
import { DictValue, ListValue, ObjectValue, type Value } from "./values";

export function assign(interpreter: Interpreter, target: Expression, value: Value): void {
  switch (target.kind) {
    case "Name":
      interpreter.frame.assign(interpreter.references, target.id, value);
      return;
    case "Attribute":
      setAttribute(interpreter, interpreter.evaluate(target.object), target.attribute.id, value, target);
      return;
    case "Subscript":
      setItem(
        interpreter,
        interpreter.evaluate(target.object),
        interpreter.evaluate(target.index),
        value,
        target,
      );
      return;
    case "Tuple":
    case "List":
      unpack(interpreter, target.elements, value, target);
      return;
    case "Starred":
      assign(interpreter, target.value, value);
      return;
    default:
      return;
  }
}

function unpack(interpreter: Interpreter, targets: readonly Expression[], value: Value, span: Span): void {
  const iterable = iterate(interpreter, value, span);
  if (isUnknown(iterable)) {
    for (const target of targets) assign(interpreter, target, iterable);
    return;
  }
  const items: Value[] = [];
  for (const item of iterable) {
    interpreter.tick();
    items.push(item);
  }
  const star = targets.findIndex((target) => target.kind === "Starred");
  const wrong = star < 0 ? items.length !== targets.length : items.length < targets.length - 1;
  if (wrong) {
    interpreter.raise("ValueError", `cannot unpack ${items.length} values into ${targets.length}`, span);
  }
  for (const [i, target] of targets.entries()) {
    if (i === star)
      assign(interpreter, target, new ListValue(items.slice(i, items.length - (targets.length - 1 - i))));
    else
      assign(
        interpreter,
        target,
        items[star >= 0 && i > star ? items.length - (targets.length - i) : i] ?? null,
      );
  }
}

/** Whatever a target held is no longer known. */
export function assignUnknown(interpreter: Interpreter, target: Expression, reason: Unknown): void {
  switch (target.kind) {
    case "Name":
      taintOrReplace(interpreter, target.id, reason);
      return;
    case "Attribute": {
      const object = interpreter.evaluate(target.object);
      if (object instanceof ObjectValue)
        setAttribute(interpreter, object, target.attribute.id, reason, target);
      return;
    }
    case "Subscript": {
      const object = interpreter.evaluate(target.object);
      if (object instanceof DictValue) object.tainted ??= reason;
      else if (!isUnknown(object)) assignUnknown(interpreter, target.object, reason);
      return;
    }
    case "Tuple":
    case "List":
      for (const element of target.elements) assignUnknown(interpreter, element, reason);
      return;
    case "Starred":
      assignUnknown(interpreter, target.value, reason);
      return;
    default:
      return;
  }
}

/** An object that may have been changed keeps its identity; a plain value is replaced. */
function taintOrReplace(interpreter: Interpreter, name: string, reason: Unknown): void {
  const value = interpreter.frame.lookup(name);
  if (value instanceof DictValue) value.tainted ??= reason;
  if (value instanceof ObjectValue && value.module !== undefined && interpreter.frame.receiver === value)
    return;
  interpreter.frame.assign(interpreter.references, name, reason);
}

export function deleteTarget(interpreter: Interpreter, target: Expression): void {
  switch (target.kind) {
    case "Name":
      interpreter.frame.remove(interpreter.references, target.id);
      return;
    case "Attribute":
      deleteAttribute(interpreter, interpreter.evaluate(target.object), target.attribute.id, target);
      return;
    case "Subscript":
      deleteItem(
        interpreter,
        interpreter.evaluate(target.object),
        interpreter.evaluate(target.index),
        target,
      );
      return;
    case "Tuple":
    case "List":
      for (const element of target.elements) deleteTarget(interpreter, element);
      return;
    default:
      return;
  }
}
