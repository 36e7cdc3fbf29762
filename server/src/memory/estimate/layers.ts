/** Submodules by the place in the file that makes them, for hovers. */
import type { Span } from "../../python/tree";
import type { LayerEstimate } from "../estimate";
import { plainSpan } from "./spans";
import type { CallRecorder } from "../evaluate/call-records";
import { joinPath } from "../evaluate/nn/state";
import type { ObjectValue } from "../evaluate/values";
import { elementCount, type Tensor } from "../tensor";

interface Pending {
  readonly path: string;
  readonly module: ObjectValue;
  readonly span: Span | undefined;
}

/** One line a submodule that stands in the file; each module once. Linear in the number of modules. */
export function layersOf(model: ObjectValue, calls?: CallRecorder): LayerEstimate[] {
  const counts = parameterCounts(model);
  const seen = new Set<ObjectValue>();
  const layers: LayerEstimate[] = [];
  const pending: Pending[] = [{ path: "", module: model, span: undefined }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { path, module, span } = next;
    if (seen.has(module)) continue;
    seen.add(module);
    if (span !== undefined) {
      const ran = calls?.ofModule(module);
      layers.push({
        span,
        modulePath: path,
        className: module.type.name,
        parameters: counts.get(module) ?? 0,
        ...(ran === undefined ? {} : { ran: { ...ran, span } }),
      });
    }
    const state = module.module;
    const isContainer =
      module.type.find((type) => type.path) !== "torch.nn.Module" && module.type.node === undefined;
    if (state === undefined || state.modules.size === 0) continue;
    for (const [name, child] of [...state.modules].reverse()) {
      if (child === null) continue;
      const made = isContainer ? child.span : state.attachedAt.get(name);
      const at = plainSpan(made);
      pending.push({ path: joinPath(path, name), module: child, span: at });
    }
  }
  return layers;
}

/** Parameters under each module; a tensor shared inside a module counts once in it. */
function parameterCounts(model: ObjectValue): Map<ObjectValue, number> {
  const sets = new Map<ObjectValue, Set<Tensor>>();
  const counts = new Map<ObjectValue, number>();
  for (const module of bottomUp(model)) {
    if (counts.has(module)) continue;
    const own = new Set<Tensor>();
    let total = 0;
    const add = (tensor: Tensor): void => {
      if (own.has(tensor)) return;
      own.add(tensor);
      total += elementCount(tensor.shape);
    };
    for (const tensor of module.module?.parameters.values() ?? []) if (tensor !== null) add(tensor);
    for (const child of module.module?.modules.values() ?? []) {
      const inner = child === null ? undefined : sets.get(child);
      if (inner !== undefined) for (const tensor of inner) add(tensor);
    }
    sets.set(module, own);
    counts.set(module, total);
  }
  return counts;
}

/** Every module after its submodules. */
function bottomUp(model: ObjectValue): ObjectValue[] {
  const order: ObjectValue[] = [];
  const seen = new Set<ObjectValue>();
  const pending: ObjectValue[] = [model];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    order.push(next);
    for (const child of next.module?.modules.values() ?? []) if (child !== null) pending.push(child);
  }
  return order.reverse();
}
