/**
 * What the header says of the inputs of a script whose training loop is run: it stands in for batches that nobody knows, in the
 * form in which the loop takes them, and for what models are called with where the script does not say it.
 */
import type { Expression, For } from "../../../python/tree";
import type { InputSpecification } from "../../setup";
import { Tensor } from "../../tensor";
import { isUnknown, Unknown } from "../../unknown";
import { CallArguments } from "../arguments";
import type { Interpreter } from "../interpreter";
import { dictOf } from "../iteration";
import type { ObjectValue } from "../values";
import { DictValue, ListValue, TupleValue, ClassValue, type Value } from "../values";
import { enumerates, usesOf } from "./batch-form";

export interface GivenInputs {
  readonly inputs: readonly InputSpecification[];
  readonly targets: readonly InputSpecification[];
  readonly batch: number;
  /** The class or variable that the header names: the inputs are those of its calls, not the loop's batches. */
  readonly model: string | undefined;
}

export class GivenData {
  private samples: number;
  /** What stood in for something. */
  isUsed = false;
  /** Parts of a batch that the header does not speak of, by their place in it: the same objects in every iteration. */
  private readonly parts = new Map<string, Unknown>();
  /** Those that a model was called with in an iteration before, and the input that it took. */
  private readonly learned = new Map<Unknown, InputSpecification>();
  /** Classes of models that were called with the header's inputs. */
  private readonly receivers = new Set<ClassValue>();

  constructor(
    private readonly interpreter: Interpreter,
    private readonly given: GivenInputs,
  ) {
    this.samples = given.batch;
  }

  /** Samples of one forward. */
  get batch(): number {
    return this.samples;
  }

  set batch(samples: number) {
    // labels of another batch: the loss says their shape again
    if (samples !== this.samples)
      for (const part of this.parts.values()) this.interpreter.training?.labels.delete(part);
    this.samples = samples;
  }

  /** Samples as the header or the script says them. */
  get own(): number {
    return this.given.batch;
  }

  get grows(): boolean {
    return this.given.inputs.some(({ dimensions }) => dimensions.some(({ perSample }) => perSample));
  }

  /** A model was called with what the header says, whoever made it. */
  get isTaken(): boolean {
    return this.isUsed || this.receivers.size > 0;
  }

  /** How many parts of a batch are known by what was called with them: as long as it grows, the next iteration knows more. */
  get known(): number {
    return this.learned.size;
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
    return new Batch(loop, this.given, (part) => this.partFor(part)).whole(item, target);
  }

  /** Whether that is a part of a batch. */
  isPart(unknown: Unknown): boolean {
    return [...this.parts.values()].includes(unknown);
  }

  private partFor({ place, specification, reason, keepsShape }: Part): Value {
    if (specification !== undefined) return this.tensor(specification);
    const part = this.parts.get(place) ?? new Unknown(reason.reason, reason.span);
    this.parts.set(place, part);
    const learned = this.learned.get(part);
    if (learned !== undefined) return this.tensor(learned);
    const labels = this.interpreter.training?.labels.get(part);
    if (labels === undefined || !keepsShape) return part;
    const { execution, references } = this.interpreter;
    return references.own(execution.input(labels.shape, labels.dtype, labels.bound));
  }

  /** What a model is called with, where the script does not say it. */
  argumentsFor(object: ObjectValue, args: CallArguments): CallArguments {
    if (this.given.model !== undefined) return this.argumentsForNamed(this.given.model, object, args);
    if ([...args.values()].every(isKnown)) {
      if ([...args.values()].some((value) => this.isInput(value))) this.receivers.add(object.type);
      return args;
    }
    // the header speaks of one kind of model
    if (this.receivers.size > 0 && !this.receivers.has(object.type)) return args;
    const specifications = [...this.given.inputs, ...this.given.targets];
    const unnamed = specifications.filter(({ name }) => name === undefined);
    const positional = args.positional.map((value, i) => this.argumentFor(value, unnamed[i], i));
    const keywords = [...args.keywords].map(([key, value]): [string, Value] => [
      key,
      this.argumentFor(
        value,
        specifications.find(({ name }) => name === key),
        key,
      ),
    ]);
    const filled = new CallArguments(positional, new Map(keywords), args.unknownKeywords);
    if (filled.unknown() === undefined) this.receivers.add(object.type);
    return filled;
  }

  private argumentFor(
    value: Value,
    specification: InputSpecification | undefined,
    at: number | string,
  ): Value {
    if (!isUnknown(value) || specification === undefined) return value;
    this.isUsed = true;
    if (this.isPart(value)) this.learned.set(value, specification);
    const tensor = this.tensor(specification);
    this.rebind(value, tensor, at);
    return tensor;
  }

  /** The variable that was given holds the tensor from now on: what else is computed with it knows it too. */
  private rebind(unknown: Unknown, tensor: Tensor, at: number | string): void {
    const { callSpan, frame, references } = this.interpreter;
    const node = callSpan !== undefined && "kind" in callSpan ? (callSpan as Expression) : undefined;
    if (node?.kind !== "Call") return;
    const written =
      typeof at === "number" ? node.positional[at] : node.keywords.find(({ name }) => name.id === at)?.value;
    if (written?.kind !== "Name" || frame.variables.get(written.id) !== unknown) return;
    frame.assign(references, written.id, tensor);
  }

  /** What the model that the header names is called with, where the script does not say it. */
  private argumentsForNamed(model: string, object: ObjectValue, args: CallArguments): CallArguments {
    if (!this.isNamed(object, model)) return args;
    if ([...args.values()].every(isKnown)) return args;
    this.isUsed = true;
    const positional: Value[] = [];
    const keywords = new Map<string, Value>();
    for (const specification of this.given.inputs) {
      const tensor = this.tensor(specification);
      if (specification.name === undefined) positional.push(tensor);
      else keywords.set(specification.name, tensor);
    }
    return new CallArguments(positional, keywords);
  }

  private isNamed(object: ObjectValue, name: string): boolean {
    const value = this.interpreter.frame.lookup(name);
    if (value instanceof ClassValue) return object.type === value;
    return value === object || object.type.name === name;
  }

  private isInput(value: Value): boolean {
    if (!(value instanceof Tensor)) return false;
    return this.given.inputs.some((one) => {
      const shape = this.shapeOf(one);
      return one.dtype === value.dtype && shape.join() === value.shape.join();
    });
  }

  private shapeOf({ dimensions }: InputSpecification): number[] {
    return dimensions.map(({ factor, perSample }) => factor * (perSample ? this.batch : 1));
  }

  private tensor(specification: InputSpecification): Tensor {
    const { execution, references } = this.interpreter;
    const { dtype, bound } = specification;
    return references.own(execution.input(this.shapeOf(specification), dtype, bound));
  }
}

/** A part of a batch that is not known, and what the header says of it. */
interface Part {
  /** Where in the batch: the same in every iteration. */
  readonly place: string;
  readonly specification: InputSpecification | undefined;
  readonly reason: Unknown;
  /** It has a name, and the loop's body makes no other shape of it. */
  readonly keepsShape: boolean;
}

/** Fills one batch: what is known of it stays, the rest are the header's inputs and targets in the order of its parts. */
class Batch {
  private readonly specifications: readonly InputSpecification[];
  private readonly free: InputSpecification[];
  private count = 0;

  constructor(
    private readonly loop: For,
    { inputs, targets }: GivenInputs,
    private readonly partFor: (part: Part) => Value,
  ) {
    this.specifications = [...inputs, ...targets];
    this.free = this.specifications.filter(({ name }) => name === undefined);
  }

  whole(item: Value, target: Expression): Value {
    return isUnknown(item) && target.kind === "Name"
      ? this.named(target.id, item)
      : this.filled(item, target, undefined);
  }

  /** `target` is the pattern that the loop binds, where it says something of this part's form. */
  private filled(item: Value, target: Expression | undefined, name: string | undefined): Value {
    if (item instanceof DictValue && item.uncertain === undefined) {
      const entries = [...item.entries.values()].map(({ key, value }): [string, Value] => {
        const text = typeof key === "string" ? key : "";
        return [text, this.filled(value, undefined, text)];
      });
      return dictOf(entries);
    }
    const patterns = elementsOf(target);
    if (item instanceof TupleValue || item instanceof ListValue) {
      const items = item.items.map((inner, i) => this.filled(inner, patterns?.[i], undefined));
      return item instanceof ListValue ? new ListValue(items) : new TupleValue(items);
    }
    if (!isUnknown(item) && !(item instanceof DictValue)) return this.kept(item, name);
    const reason = reasonIn(item);
    if (reason === undefined) return item;
    if (patterns !== undefined)
      return new TupleValue(patterns.map((inner) => this.filled(reason, inner, undefined)));
    const uses = target?.kind === "Name" ? usesOf(target.id, this.loop) : undefined;
    return uses?.isList === true ? this.open(reason) : this.part(reason, name, uses?.keepsShape);
  }

  /** As the body takes it apart: by position, by name, or not at all. */
  private named(name: string, reason: Unknown): Value {
    const { length, keys, isList } = usesOf(name, this.loop);
    if (keys.length > 0) return this.dictOf(keys, reason);
    if (length === 0) return isList ? this.open(reason) : this.part(reason, undefined);
    const parts = Math.max(length, this.count === 0 ? this.specifications.length : 0);
    return new TupleValue(Array.from({ length: parts }, () => this.part(reason, undefined)));
  }

  private dictOf(keys: readonly string[], reason: Unknown): Value {
    const further = this.specifications.flatMap(({ name }) => (name === undefined ? [] : [name]));
    const all = [...new Set([...further, ...keys])];
    return dictOf(all.map((key): [string, Value] => [key, this.part(reason, key)]));
  }

  /** What is known takes the place of what the header says of it. */
  private kept(item: Value, name: string | undefined): Value {
    this.count++;
    if (
      item instanceof Tensor &&
      !this.specifications.some((one) => one.name !== undefined && one.name === name)
    )
      this.free.shift();
    return item;
  }

  /** Some tensors, nobody knows how many; the header's next input is that of each of them. */
  private open(reason: Unknown): Unknown {
    this.count++;
    this.free.shift();
    return reason;
  }

  private part(reason: Unknown, name: string | undefined, keepsShape = false): Value {
    const named = this.specifications.find((one) => one.name !== undefined && one.name === name);
    const place = `${this.loop.start} ${this.count++}`;
    return this.partFor({ place, specification: named ?? this.free.shift(), reason, keepsShape });
  }
}

/** The patterns of a tuple's parts; nothing where one takes the rest. */
function elementsOf(target: Expression | undefined): readonly Expression[] | undefined {
  if (target?.kind !== "Tuple" && target?.kind !== "List") return undefined;
  return target.elements.some(({ kind }) => kind === "Starred") ? undefined : target.elements;
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
