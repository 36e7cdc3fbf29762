/** Whether a script runs on a GPU, as far as its own text says so. */
import type { Call, Expression } from "../python/tree";
import type { Resolver } from "./resolve";

const known = new WeakMap<Resolver, boolean>();

/** True when something of the file is put on a GPU by name: `.cuda()`, `"cuda:0"`, `torch.device("cuda" if … else "cpu")`. */
export function usesGpu(resolver: Resolver): boolean {
  const cached = known.get(resolver);
  if (cached !== undefined) return cached;
  const found = resolver.index.calls.some(
    (call) => isCudaMethod(call) || namesGpu(call) || placesOnGpu(resolver, call),
  );
  known.set(resolver, found);
  return found;
}

function isCudaMethod({ callee }: Call): boolean {
  return callee.kind === "Attribute" && callee.attribute.id === "cuda";
}

/** `x.to(device)` with `device = "cuda" if torch.cuda.is_available() else "cpu"`. */
function placesOnGpu(resolver: Resolver, { callee, positional }: Call): boolean {
  const [device] = positional;
  if (callee.kind !== "Attribute" || callee.attribute.id !== "to" || device === undefined) return false;
  return resolver.valuesOf(device).some(isGpuName);
}

function isGpuName(expression: Expression): boolean {
  const choices = expression.kind === "Conditional" ? [expression.body, expression.orelse] : [expression];
  return choices.some((choice) => choice.kind === "String" && /^cuda(:\d+)?$/.test(choice.value ?? ""));
}

/** `x.to("cuda")`, `torch.device("cuda:0")`, `torch.zeros(4, device="cuda")`, with a choice between devices too. */
function namesGpu(call: Call): boolean {
  return [...call.positional, ...call.keywords.map(({ value }) => value)].some(isGpuName);
}
