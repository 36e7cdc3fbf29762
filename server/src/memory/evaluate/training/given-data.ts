/**
 * What the header says of the inputs of a script whose training loop is run: it stands in for batches that nobody knows, in the
 * form in which the loop takes them, or for what the named model is called with.
 */
import type { Expression, For, While } from "../../../python/tree";
import { childrenOf, walk } from "../../../python/walk";
import type { InputSpecification } from "../../setup";
import type { Tensor } from "../../tensor";
import { isUnknown, type Unknown } from "../../unknown";
import { CallArguments } from "../arguments";
import type { Interpreter } from "../interpreter";
import { dictOf } from "../iteration";
import type { ObjectValue } from "../values";
import { DictValue, ListValue, TupleValue, ClassValue, type Value } from "../values";

export interface GivenInputs {
  readonly inputs: readonly InputSpecification[];
  readonly targets: readonly InputSpecification[];
  readonly batch: number;
  /** The class or variable that the header names: the inputs are those of its calls, not the loop's batches. */
  readonly model: string | undefined;
}

export class GivenData {
  /** Samples of one forward. */
  batch: number;
  /** What stood in for something. */
  isUsed = false;

  constructor(
    private readonly interpreter: Interpreter,
    private readonly given: GivenInputs,
  ) {
    this.batch = given.batch;
  }

  /** Samples as the header or the script says them. */
  get own(): number {
    return this.given.batch;
  }

  get grows(): boolean {
    return this.given.inputs.some(({ dimensions }) => dimensions.some(({ perSample }) => perSample));
  }

  /** What a loop is given in the place of its item with a number, where that is not known or not known in whole. */
  itemFor(loop: For, item: Value, number: number): Value {
    if (this.given.model !== undefined) return item;
    const { target } = loop;
    const [, batch, ...others] = target.kind === "Tuple" ? target.elements : [];
    if (!enumerates(loop.iterable) || batch === undefined || others.length > 0)
      return this.batchFor(target, loop, item);
    const [counted, inner] = item instanceof TupleValue ? item.items : [number, item];
    return new TupleValue([counted ?? number, this.batchFor(batch, loop, inner ?? null)]);
  }

  private batchFor(target: Expression, loop: For, item: Value): Value {
    if (isKnown(item)) return item;
    this.isUsed = true;
    if (target.kind === "Tuple" || target.kind === "List") return this.tupleOf(target.elements.length, item);
    return target.kind === "Name" ? this.named(target.id, loop, item) : item;
  }

  /** As the body takes it apart: by position, by name, or not at all. */
  private named(name: string, loop: For, item: Value): Value {
    const { length, keys } = usesOf(name, loop);
    if (keys.length > 0) return this.dictOf(keys, item);
    const { inputs, targets } = this.given;
    if (length === 0) return this.tensors()[0] ?? item;
    return this.tupleOf(Math.max(length, inputs.length + targets.length), item);
  }

  /** Inputs first, then targets; what else there may be is not known. */
  private tupleOf(length: number, item: Value): Value {
    const tensors = this.tensors();
    const rest = reasonIn(item);
    return new TupleValue(Array.from({ length }, (_, i) => tensors[i] ?? rest ?? null));
  }

  private dictOf(keys: readonly string[], item: Value): Value {
    const specifications = [...this.given.inputs, ...this.given.targets];
    const tensors = this.tensors();
    const names = new Set(specifications.map(({ name }) => name));
    const free = keys.filter((key) => !names.has(key));
    const entries = specifications.map(({ name }, i): [string, Value] => [
      name ?? free.shift() ?? "",
      tensors[i] ?? null,
    ]);
    return dictOf([...entries, ...free.map((key): [string, Value] => [key, reasonIn(item) ?? null])]);
  }

  /** What the model that the header names is called with, where the script does not say it. */
  argumentsFor(object: ObjectValue, args: CallArguments): CallArguments {
    const { model, inputs } = this.given;
    if (model === undefined || !this.isNamed(object, model)) return args;
    if ([...args.values()].every(isKnown)) return args;
    this.isUsed = true;
    const tensors = this.tensors();
    const positional: Value[] = [];
    const keywords = new Map<string, Value>();
    inputs.forEach(({ name }, i) => {
      const tensor = tensors[i] ?? null;
      if (name === undefined) positional.push(tensor);
      else keywords.set(name, tensor);
    });
    return new CallArguments(positional, keywords);
  }

  private isNamed(object: ObjectValue, name: string): boolean {
    const value = this.interpreter.frame.lookup(name);
    if (value instanceof ClassValue) return object.type === value;
    return value === object || object.type.name === name;
  }

  private tensors(): Tensor[] {
    const { execution, references } = this.interpreter;
    return [...this.given.inputs, ...this.given.targets].map(({ dimensions, dtype, bound }) => {
      const shape = dimensions.map(({ factor, perSample }) => factor * (perSample ? this.batch : 1));
      return references.own(execution.input(shape, dtype, bound));
    });
  }
}

function isKnown(value: Value): boolean {
  return reasonIn(value) === undefined;
}

/** What is not known of a batch. */
function reasonIn(value: Value): Unknown | undefined {
  if (isUnknown(value)) return value;
  if (value instanceof DictValue)
    return value.uncertain ?? firstReason([...value.entries.values()].map((entry) => entry.value));
  if (value instanceof TupleValue || value instanceof ListValue) return firstReason(value.items);
  return undefined;
}

function firstReason(values: readonly Value[]): Unknown | undefined {
  for (const value of values) {
    const reason = reasonIn(value);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

/** How a loop's body takes apart what has a name: into so many parts (0: not at all), or by these keys. */
function usesOf(
  name: string,
  { body }: For | While,
): { readonly length: number; readonly keys: readonly string[] } {
  let length = 0;
  const keys = new Set<string>();
  const isIt = (node: Expression): boolean => node.kind === "Name" && node.id === name;
  for (const statement of body)
    walk(statement, {
      enter: (node) => {
        if (node.kind === "Assign" && isIt(node.value))
          for (const target of node.targets)
            if (target.kind === "Tuple" || target.kind === "List")
              length = Math.max(length, target.elements.length);
        if (node.kind === "Subscript" && isIt(node.object)) {
          if (node.index.kind === "Integer") length = Math.max(length, node.index.value + 1);
          if (node.index.kind === "String" && node.index.value !== undefined) keys.add(node.index.value);
        }
        return true;
      },
    });
  return { length, keys: [...keys] };
}

/** `enumerate(loader)`, in a progress bar or not. */
export function enumerates(node: Expression): boolean {
  if (node.kind !== "Call") return false;
  if (node.callee.kind === "Name" && node.callee.id === "enumerate") return true;
  return childrenOf(node).some((child) => child.kind === "Call" && enumerates(child));
}
