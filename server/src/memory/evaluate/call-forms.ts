/** Arguments of a call as plain data: the tensors in them by their position, and back again. */
import { unknownReasons } from "../../messages/estimate";
import { message } from "../../messages/message";
import type { Span } from "../../python/tree";
import type { ArgumentForm, ModelCall } from "../setup";
import { Tensor } from "../tensor";
import { isUnknown, Unknown } from "../unknown";
import { CallArguments } from "./arguments";
import type { Interpreter } from "./interpreter";
import { dictOf } from "./iteration";
import { DictValue, Float, ListValue, TupleValue, type Value } from "./values";

/** Containers deeper than this, and longer ones, are not taken apart. */
const deepest = 8;
const longest = 1024;

/**
 * The form of a value; its tensors are added to `tensors`. Unknown, with the reason, where a part of it is not known or
 * is something else: `name` is what the message calls it.
 */
export function formOf(
  value: Value,
  tensors: Tensor[],
  name: string,
  span: Span,
  depth = 0,
): ArgumentForm | Unknown {
  if (isUnknown(value)) return value;
  if (value instanceof Tensor) {
    const known = tensors.indexOf(value);
    return { input: known < 0 ? tensors.push(value) - 1 : known };
  }
  if (value === null || typeof value === "string" || typeof value === "boolean" || typeof value === "number")
    return { plain: value };
  if (value instanceof Float && Number.isFinite(value.value) && !Number.isInteger(value.value))
    return { plain: value.value };
  const isPlainDict = value instanceof DictValue && value.tainted === undefined;
  const parts = isPlainDict ? [...value.entries.values()] : itemsIn(value);
  if (parts === undefined || depth >= deepest || parts.length > longest)
    return new Unknown(message(unknownReasons.plainArgument, { what: name }), span);
  const items: ArgumentForm[] = [];
  for (const part of parts) {
    const form = formOf("value" in part ? part.value : null, tensors, name, span, depth + 1);
    if (isUnknown(form)) return form;
    items.push(form);
  }
  if (!isPlainDict) return { items, isTuple: value instanceof TupleValue };
  const keys = [...value.entries.values()].map(({ key }) => key);
  if (!keys.every((key) => typeof key === "string"))
    return new Unknown(message(unknownReasons.plainArgument, { what: name }), span);
  return { entries: keys.map((key, i) => [key, items[i] ?? { plain: null }] as const) };
}

function itemsIn(value: Value): { readonly value: Value }[] | undefined {
  if (!(value instanceof TupleValue || value instanceof ListValue)) return undefined;
  if (value instanceof TupleValue && value.type !== undefined) return undefined;
  return value.items.map((item) => ({ value: item }));
}

/** The arguments that a form describes, over these inputs: they hold them from now on. */
export function calledWith(
  interpreter: Interpreter,
  { positional, keywords }: ModelCall,
  inputs: readonly Tensor[],
): CallArguments {
  const made = (form: ArgumentForm): Value => {
    if ("input" in form) return inputs[form.input] ?? null;
    if ("items" in form) {
      const items = form.items.map(made);
      return form.isTuple ? new TupleValue(items) : new ListValue(items);
    }
    if ("entries" in form) return dictOf(form.entries.map(([key, value]) => [key, made(value)] as const));
    const { plain } = form;
    return typeof plain === "number" && !Number.isInteger(plain) ? new Float(plain) : plain;
  };
  const args = new CallArguments(
    positional.map(made),
    new Map(keywords.map(([name, form]) => [name, made(form)] as const)),
  );
  for (const value of args.values()) interpreter.references.retain(value);
  for (const input of inputs) interpreter.references.release(input);
  return args;
}
