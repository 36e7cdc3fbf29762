/** The arguments of a call by name, defaults filled in, with the checks every operator and module needs. */
import type { Message } from "../../messages/message";
import { Tensor, type Dtype } from "../tensor";
import { Unknown } from "../unknown";
import { isSequence, numberOf, type Argument } from "./argument";
import { argumentNotUnderstood, dimensionOutOfRange } from "./reasons";

/** Thrown inside an operator or module that meets something it cannot follow; its caller makes it an Unknown. */
export class NotUnderstood extends Error {
  constructor(readonly reason: Message) {
    super("not understood");
  }
}

/** Python's own types where a dtype is asked for. */
const pythonTypes: Readonly<Record<string, Dtype>> = {
  "builtins.bool": "bool",
  "builtins.int": "int64",
  "builtins.float": "float64",
  "builtins.complex": "complex128",
};

export class Values {
  constructor(
    readonly name: string,
    readonly values: Readonly<Record<string, Argument>>,
    readonly rest: readonly Argument[],
  ) {}

  fail(reason: Message): never {
    throw new NotUnderstood(reason);
  }

  notUnderstood(argument: string): never {
    const value = this.values[argument];
    if (value instanceof Unknown) throw new NotUnderstood(value.reason);
    throw new NotUnderstood(argumentNotUnderstood(this.name, argument));
  }

  /** The raw argument; an Unknown stops the operator. */
  value(argument: string): Argument {
    const value = this.values[argument] ?? null;
    return value instanceof Unknown ? this.notUnderstood(argument) : value;
  }

  tensor(argument: string): Tensor {
    const value = this.values[argument];
    return value instanceof Tensor ? value : this.notUnderstood(argument);
  }

  optionalTensor(argument: string): Tensor | undefined {
    const value = this.value(argument);
    if (value === null) return undefined;
    return value instanceof Tensor ? value : this.notUnderstood(argument);
  }

  tensors(argument: string): Tensor[] {
    const value = this.value(argument);
    if (!isSequence(value)) return this.notUnderstood(argument);
    return value.map((entry) => (entry instanceof Tensor ? entry : this.notUnderstood(argument)));
  }

  number(argument: string): number {
    return numberOf(this.value(argument)) ?? this.notUnderstood(argument);
  }

  optionalNumber(argument: string): number | undefined {
    return this.value(argument) === null ? undefined : this.number(argument);
  }

  boolean(argument: string): boolean {
    const value = this.value(argument);
    if (typeof value === "boolean") return value;
    if (value === null) return false;
    return typeof value === "number" ? value !== 0 : this.notUnderstood(argument);
  }

  text(argument: string): string {
    const value = this.value(argument);
    return typeof value === "string" ? value : this.notUnderstood(argument);
  }

  dtype(argument: string): Dtype | undefined {
    const value = this.value(argument);
    if (value === null) return undefined;
    if (typeof value === "object" && "kind" in value) {
      if (value.kind === "dtype") return value.dtype;
      const own = value.kind === "function" ? pythonTypes[value.name ?? ""] : undefined;
      if (own !== undefined) return own;
    }
    return this.notUnderstood(argument);
  }

  /** An integer or a sequence of integers as a list; null gives undefined. */
  optionalIntegers(argument: string): number[] | undefined {
    const value = this.value(argument);
    return value === null ? undefined : this.integersOf(value, argument);
  }

  integers(argument: string): number[] {
    return this.integersOf(this.value(argument), argument);
  }

  /** `(2, 3)`, `[2, 3]` or `2, 3`: what follows the named arguments. */
  restIntegers(): number[] {
    const only = this.rest.length === 1 ? this.rest[0] : undefined;
    return this.integersOf(only !== undefined && isSequence(only) ? only : this.rest, "size");
  }

  /** An integer for all of `count` dimensions, or one for each. */
  repeated(argument: string, count: number): number[] {
    const values = this.integers(argument);
    if (values.length === count) return values;
    const only = values[0];
    if (values.length === 1 && only !== undefined) return new Array<number>(count).fill(only);
    return this.notUnderstood(argument);
  }

  private integersOf(value: Argument, argument: string): number[] {
    if (isSequence(value)) {
      return value.map((entry) => {
        if (entry instanceof Tensor && entry.values?.length === 1) return entry.values[0] ?? 0;
        if (entry instanceof Unknown) throw new NotUnderstood(entry.reason);
        return numberOf(entry) ?? this.notUnderstood(argument);
      });
    }
    if (value instanceof Tensor && value.values?.length === 1) return [...value.values];
    return [numberOf(value) ?? this.notUnderstood(argument)];
  }

  /** A dimension counted from the front. */
  dimension(dimension: number, shape: readonly number[]): number {
    const rank = Math.max(shape.length, 1);
    const positive = dimension < 0 ? dimension + rank : dimension;
    if (positive < 0 || positive >= rank || !Number.isInteger(positive)) {
      this.fail(dimensionOutOfRange(this.name, dimension, shape));
    }
    return positive;
  }
}
