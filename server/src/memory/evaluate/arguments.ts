/** Arguments of one call. */
import { isUnknown, type Unknown } from "../unknown";
import type { Value } from "./values";

const noKeywords: ReadonlyMap<string, Value> = new Map();

export class CallArguments {
  constructor(
    readonly positional: readonly Value[],
    readonly keywords: ReadonlyMap<string, Value> = noKeywords,
    /** `**spread` of a value that is not understood: any parameter that was not given may be in it. */
    readonly unknownKeywords?: Unknown,
  ) {}

  /** The argument at a position or of a name; undefined when it was not given. */
  get(index: number, name: string): Value | undefined {
    return this.positional[index] ?? (index < this.positional.length ? null : this.keywords.get(name));
  }

  /** As `get`, with what the function takes when it is not given. */
  or(index: number, name: string, otherwise: Value): Value {
    const given = this.get(index, name);
    return given === undefined ? otherwise : given;
  }

  at(index: number): Value | undefined {
    return index < this.positional.length ? (this.positional[index] ?? null) : undefined;
  }

  /** The same call with a receiver in front. */
  withReceiver(receiver: Value): CallArguments {
    return new CallArguments([receiver, ...this.positional], this.keywords, this.unknownKeywords);
  }

  withoutFirst(): CallArguments {
    return new CallArguments(this.positional.slice(1), this.keywords, this.unknownKeywords);
  }

  *values(): Iterable<Value> {
    yield* this.positional;
    yield* this.keywords.values();
  }

  /** The first argument that is not understood. */
  unknown(): Unknown | undefined {
    for (const value of this.values()) if (isUnknown(value)) return value;
    return this.unknownKeywords;
  }

  get count(): number {
    return this.positional.length + this.keywords.size;
  }
}

export const noArguments = new CallArguments([]);
