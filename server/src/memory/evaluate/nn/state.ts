/** What makes an object an `nn.Module`: parameters, buffers, submodules, each by name and in order. */
import type { Span } from "../../../python/tree";
import type { ModuleObject } from "../../modules/module";
import type { Tensor } from "../../tensor";
import type { Unknown } from "../../unknown";
import { LazyMap } from "../lazy-map";
import type { ObjectValue, Value } from "../values";

/** `register_forward_hook(callee, with_kwargs=…)`. */
export interface Hook {
  readonly callee: Value;
  readonly takesKeywords: boolean;
}

/** How often a parameter, buffer or submodule was put on any module or taken off it. */
let partChanges = 0;

/** Parameters, buffers or submodules by name. */
class PartMap<Part> extends LazyMap<string, Part> {
  override set(name: string, part: Part): this {
    partChanges++;
    return super.set(name, part);
  }

  override delete(name: string): boolean {
    partChanges++;
    return super.delete(name);
  }

  override clear(): void {
    partChanges++;
    super.clear();
  }
}

/** What lies in a module and below it, each once, as it was after so many changes; tensors once somebody asks for them. */
interface Below {
  readonly changes: number;
  readonly modules: readonly ObjectValue[];
  parameters: readonly Tensor[] | undefined;
  buffers: readonly Tensor[] | undefined;
}

export class ModuleState {
  readonly parameters = new PartMap<Tensor | null>();
  readonly buffers = new PartMap<Tensor | null>();
  readonly modules = new PartMap<ObjectValue | null>();
  /** Parts that may hold parameters but are not understood. */
  readonly unknownParts = new LazyMap<string, Unknown>();
  /** Where in the user's file each submodule was attached. */
  readonly attachedAt = new LazyMap<string, Span>();
  training = true;
  below: Below | undefined = undefined;
  /** The module as the table of `torch.nn` modules sees it, once it was asked for. */
  handle: ModuleObject | undefined = undefined;
  /** What runs before the forward with its arguments, and after it with its result. */
  readonly preHooks: Hook[] = [];
  readonly hooks: Hook[] = [];
  /** Backward hooks were registered: what they do is not followed. */
  hasBackwardHooks = false;
  /** Lists of parametrizations by the name of the tensor that they compute whenever it is read. */
  readonly parametrized = new LazyMap<string, ObjectValue>();

  /** Adds what it holds references to. */
  addHeld(held: Value[]): void {
    for (const { callee } of this.preHooks) held.push(callee);
    for (const { callee } of this.hooks) held.push(callee);
    for (const parts of [this.parameters, this.buffers, this.modules])
      if (parts.size > 0) held.push(...parts.values());
  }
}

function belowOf(root: ObjectValue): Below {
  const known = root.module?.below;
  if (known?.changes === partChanges) return known;
  const below = {
    changes: partChanges,
    modules: findModules(root),
    parameters: undefined,
    buffers: undefined,
  };
  if (root.module !== undefined) root.module.below = below;
  return below;
}

/** A module and all below it, each once, parents first, in the order of `named_modules()`. */
export function modulesOf(root: ObjectValue): readonly ObjectValue[] {
  return belowOf(root).modules;
}

function findModules(root: ObjectValue): ObjectValue[] {
  const seen = new Set<ObjectValue>();
  const pending: ObjectValue[] = [root];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    if (next.module !== undefined) pushReversed(pending, next.module.modules);
  }
  return [...seen];
}

/** So that the first child is the next to be popped. */
function pushReversed(pending: ObjectValue[], modules: LazyMap<string, ObjectValue | null>): void {
  if (modules.size === 0) return;
  const children = [...modules.values()];
  for (let i = children.length - 1; i >= 0; i--) {
    const child = children[i];
    if (child !== undefined && child !== null) pending.push(child);
  }
}

/** Module, path and name of the parent's attribute; each module once, parents first, as `named_modules()`. */
export interface NamedModule {
  readonly path: string;
  readonly module: ObjectValue;
}

export function joinPath(prefix: string, name: string): string {
  return prefix === "" ? name : `${prefix}.${name}`;
}

export function namedModules(root: ObjectValue, prefix = ""): NamedModule[] {
  const seen = new Set<ObjectValue>();
  const found: NamedModule[] = [];
  const pending: NamedModule[] = [{ path: prefix, module: root }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (seen.has(next.module)) continue;
    seen.add(next.module);
    found.push(next);
    const children = [...(next.module.module?.modules ?? [])].reverse();
    for (const [name, child] of children) {
      if (child !== null) pending.push({ path: joinPath(next.path, name), module: child });
    }
  }
  return found;
}

export interface NamedTensor {
  readonly name: string;
  readonly tensor: Tensor;
}

/** Parameters or buffers under a module, each tensor once, in PyTorch's order. */
export function namedTensors(
  root: ObjectValue,
  kind: "parameters" | "buffers",
  recurse = true,
  prefix = "",
  once = true,
): NamedTensor[] {
  const modules = recurse ? namedModules(root, prefix) : [{ path: prefix, module: root }];
  const seen = new Set<Tensor>();
  const found: NamedTensor[] = [];
  for (const { path, module } of modules) {
    for (const [name, tensor] of module.module?.[kind] ?? []) {
      if (tensor === null || (once && seen.has(tensor))) continue;
      seen.add(tensor);
      found.push({ name: joinPath(path, name), tensor });
    }
  }
  return found;
}

/** The tensors of `namedTensors` where nobody asks for their names. */
export function tensorsOf(root: ObjectValue, kind: "parameters" | "buffers"): readonly Tensor[] {
  const below = belowOf(root);
  return (below[kind] ??= findTensors(below.modules, kind));
}

function findTensors(modules: readonly ObjectValue[], kind: "parameters" | "buffers"): Tensor[] {
  const found = new Set<Tensor>();
  for (const { module } of modules) {
    if (module === undefined || module[kind].size === 0) continue;
    for (const tensor of module[kind].values()) if (tensor !== null) found.add(tensor);
  }
  return [...found];
}

/** What in a module tree may hold parameters that are not counted. */
export function unknownParts(root: ObjectValue): Unknown[] {
  const found: Unknown[] = [];
  for (const { module } of modulesOf(root))
    if (module !== undefined && module.unknownParts.size > 0) found.push(...module.unknownParts.values());
  return found;
}

/** The modules of stacks: containers of several children of one class that is not a container itself. */
export function repeatedBlocks(root: ObjectValue): ObjectValue[] {
  const blocks = new Set<ObjectValue>();
  for (const { module } of modulesOf(root)) {
    if (module === undefined || module.modules.size < 2) continue;
    const [one] = module.modules.values();
    if (one?.module !== undefined && one.module.modules.size === 0) continue;
    const children = [...module.modules.values()].filter((child) => child !== null);
    const [first] = children;
    if (children.length < 2 || first === undefined || (first.module?.modules.size ?? 0) === 0) continue;
    if (children.every((child) => child.type === first.type)) for (const child of children) blocks.add(child);
  }
  return [...blocks];
}

/** Those of the modules that lie in no other one of them, in the order of `named_modules()`. */
export function outermost(root: ObjectValue, among: ReadonlySet<ObjectValue>): ObjectValue[] {
  const found: ObjectValue[] = [];
  const seen = new Set<ObjectValue>();
  const pending: ObjectValue[] = [root];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (seen.has(next)) continue;
    if (among.has(next)) {
      found.push(next);
      for (const inner of modulesOf(next)) seen.add(inner);
      continue;
    }
    seen.add(next);
    if (next.module !== undefined) pushReversed(pending, next.module.modules);
  }
  return found;
}

/** What `DataParallel(model)` and its like hold; Unknown where that is. */
export function wrappedBy(object: ObjectValue): ObjectValue | Unknown | undefined {
  return object.module?.modules.get("module") ?? object.module?.unknownParts.get("module");
}

/** The model inside `DistributedDataParallel(model)`: what such wrappers add is the setup's matter. Unknown where that is. */
export function unwrapped(object: ObjectValue): ObjectValue | Unknown {
  return /Parallel$/.test(object.type.path ?? "") ? (wrappedBy(object) ?? object) : object;
}
