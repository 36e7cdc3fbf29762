/**
 * What each variable may be bound to at one point of the run. Every branch begins with a copy of what stood before it, so
 * copies share what nobody has changed, and putting two of them together again looks at what has changed since they
 * parted only.
 */
import type { Reaching } from "./flow";

/** What some statements have bound, on top of what held before them. */
interface Layer {
  readonly bound: Map<string, readonly Reaching[]>;
  readonly below: Layer | undefined;
  readonly height: number;
  /** A copy stands on it: whoever binds more does so in a new layer. */
  isShared: boolean;
}

/** Layers on layers make reading slow: from here on all is put into one. */
const greatestHeight = 8;

export class Environment {
  private constructor(
    private top: Layer,
    /** What a variable is bound to that is not mentioned. */
    private readonly otherwise: readonly Reaching[],
  ) {}

  static empty(otherwise: readonly Reaching[]): Environment {
    return new Environment(layerOn(undefined), otherwise);
  }

  get(key: string): readonly Reaching[] {
    return valueIn(this.top, key) ?? this.otherwise;
  }

  set(key: string, value: readonly Reaching[]): void {
    if (this.top.isShared) this.top = this.top.height < greatestHeight ? layerOn(this.top) : flat(this.top);
    this.top.bound.set(key, value);
  }

  copy(): Environment {
    this.top.isShared = true;
    return new Environment(this.top, this.otherwise);
  }

  /** What may hold where both ways lead: of each variable what it may be bound to here or there. Itself where nothing differs. */
  joined(other: Environment): Environment {
    if (this.top === other.top) return this;
    const parting = commonLayer(this.top, other.top);
    const result = new Environment(layerOn(parting), this.otherwise);
    if (parting !== undefined) parting.isShared = true;
    for (const key of keysAbove(parting, this.top, other.top)) {
      result.set(key, union(this.get(key), other.get(key)));
    }
    return result;
  }
}

function layerOn(below: Layer | undefined): Layer {
  return { bound: new Map(), below, height: below === undefined ? 0 : below.height + 1, isShared: false };
}

/** All that the layers say, in one. */
function flat(top: Layer): Layer {
  const layers: Layer[] = [];
  for (let at: Layer | undefined = top; at !== undefined; at = at.below) layers.push(at);
  const bound = new Map<string, readonly Reaching[]>();
  for (const layer of layers.reverse()) for (const [key, value] of layer.bound) bound.set(key, value);
  return { bound, below: undefined, height: 0, isShared: false };
}

function valueIn(top: Layer, key: string): readonly Reaching[] | undefined {
  for (let at: Layer | undefined = top; at !== undefined; at = at.below) {
    const value = at.bound.get(key);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** The highest layer that both stand on, or are. */
function commonLayer(left: Layer, right: Layer): Layer | undefined {
  for (let at: Layer | undefined = left; at !== undefined; at = at.below) {
    for (let other: Layer | undefined = right; other !== undefined; other = other.below) {
      if (other === at) return at;
    }
  }
  return undefined;
}

/** The variables that the layers above the parting mention. */
function keysAbove(parting: Layer | undefined, ...tops: readonly Layer[]): Set<string> {
  const keys = new Set<string>();
  for (const top of tops) {
    for (let at: Layer | undefined = top; at !== undefined && at !== parting; at = at.below) {
      for (const key of at.bound.keys()) keys.add(key);
    }
  }
  return keys;
}

/** Both lists, what stands in both once. */
export function union(left: readonly Reaching[], right: readonly Reaching[]): readonly Reaching[] {
  if (left === right) return left;
  const missing = right.filter((one) => !left.includes(one));
  return missing.length === 0 ? left : [...left, ...missing];
}
