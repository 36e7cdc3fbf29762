/** Variables of a scope that is being evaluated: the module, a function call, a class body or a comprehension. */
import { childrenOf } from "../../python/walk";
import { Heap, type FunctionValue, type Value } from "./values";
import type { FunctionDefinition, Lambda, Node } from "../../python/tree";
import type { References } from "./references";
import type { Yielded } from "./yielded";

/** The `__name__` of the analysed file: what stands under `if __name__ == "__main__"` is not run. */
export const mainName = "__vramlint__";

export type FrameKind = "module" | "function" | "class" | "comprehension";

export class Frame extends Heap {
  readonly variables = new Map<string, Value>();
  /** Names declared `global` or `nonlocal` here, and the frame each lives in. */
  private elsewhere: Map<string, Frame> | undefined;
  /** Names that inner functions read: they outlive the call while one of those functions does. */
  private captured: Set<string> | undefined;
  /** First argument of the call: what a bare `super()` is about. */
  receiver: Value = null;
  /** Asked for names that are not bound here: those of other files are bound when they are needed. */
  missing: ((name: string) => Value | undefined) | undefined;
  /** Of a module's frame: its `__name__`. */
  moduleName = mainName;
  /** What `yield` gave so far; undefined in frames that are not a generator's. */
  yielded: Yielded | undefined;

  constructor(
    readonly kind: FrameKind,
    readonly parent: Frame | undefined,
    readonly callee: FunctionValue | undefined,
    /** The key of the file, when it is not the one that is analysed. */
    readonly file: string | undefined = parent?.file,
  ) {
    super();
  }

  held(): Iterable<Value> {
    return this.variables.values();
  }

  /** `global name` or `nonlocal name`: it lives in that frame. */
  declare(name: string, frame: Frame): void {
    this.elsewhere ??= new Map();
    this.elsewhere.set(name, frame);
  }

  /** The value of a name by Python's rules; class scopes are not seen from inside functions. */
  lookup(name: string): Value | undefined {
    const direct = (this.elsewhere?.get(name) ?? this).own(name);
    if (direct !== undefined) return direct;
    for (let frame = this.parent; frame !== undefined; frame = frame.parent) {
      if (frame.kind === "class" && this.kind !== "comprehension") continue;
      const found = (frame.elsewhere?.get(name) ?? frame).own(name);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  private own(name: string): Value | undefined {
    const value = this.variables.get(name);
    return value === undefined ? this.missing?.(name) : value;
  }

  /** The module's frame. */
  get root(): Frame {
    return this.parent?.root ?? this;
  }

  assign(references: References, name: string, value: Value): void {
    const frame = this.elsewhere?.get(name) ?? this;
    const old = frame.variables.get(name);
    references.adopt(frame, value);
    frame.variables.set(name, value);
    if (old !== undefined && frame.references > 0) references.release(old);
  }

  remove(references: References, name: string): boolean {
    const frame = this.elsewhere?.get(name) ?? this;
    const old = frame.variables.get(name);
    if (old === undefined) return false;
    frame.variables.delete(name);
    if (frame.references > 0) references.release(old);
    return true;
  }

  /** The frame that `name := value` binds in: comprehensions leave it to the function around them. */
  get function(): Frame {
    let frame: Frame = this.kind === "comprehension" && this.parent !== undefined ? this.parent : this;
    while (frame.kind === "comprehension" && frame.parent !== undefined) frame = frame.parent;
    return frame;
  }

  /** An inner function or generator is made here: it may read these names after the call has ended. */
  capture(node: Node): void {
    this.captured ??= new Set();
    for (const name of namesIn(node)) this.captured.add(name);
    if (this.kind === "comprehension") this.parent?.capture(node);
  }

  /** The call ends: locals go, but for those that a living inner function may still read. */
  leave(references: References): void {
    if (this.references > 1 && this.captured !== undefined) {
      for (const name of [...this.variables.keys()]) {
        if (!this.captured.has(name)) this.remove(references, name);
      }
    }
    references.release(this);
  }
}

const namesCache = new WeakMap<Node, ReadonlySet<string>>();

/** All names that a function or a generator reads from around it: its own name and its parameters are not among them. */
function namesIn(node: Node): ReadonlySet<string> {
  const known = namesCache.get(node);
  if (known !== undefined) return known;
  const names = new Set<string>();
  const pending: Node[] = bodyOf(node);
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (next.kind === "Name") names.add(next.id);
    if (isFunction(next)) {
      for (const name of namesIn(next)) names.add(name);
      for (const { default: otherwise } of next.parameters)
        if (otherwise !== undefined) pending.push(otherwise);
      if (next.kind === "FunctionDefinition") for (const one of next.decorators) pending.push(one.expression);
    } else pending.push(...childrenOf(next));
  }
  if (isFunction(node)) for (const { name } of node.parameters) names.delete(name.id);
  namesCache.set(node, names);
  return names;
}

function isFunction(node: Node): node is FunctionDefinition | Lambda {
  return node.kind === "FunctionDefinition" || node.kind === "Lambda";
}

function bodyOf(node: Node): Node[] {
  if (node.kind === "FunctionDefinition") return [...node.body];
  return node.kind === "Lambda" ? [node.body] : [...childrenOf(node)];
}
