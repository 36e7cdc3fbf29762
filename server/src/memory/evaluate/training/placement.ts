/**
 * Where the data is that a script makes before its training loop. It is on the host until the script moves it or computes
 * with it; what is computed in the loop is on the device.
 */
import type { Keywords } from "../../operators/argument";
import { Tensor } from "../../tensor";
import type { CallArguments } from "../arguments";
import type { Interpreter } from "../interpreter";
import { Heap, ObjectValue, type Value } from "../values";
import { modulesOf } from "../nn/state";
import { deviceAmong, isHosted } from "./host";

const moves: ReadonlySet<string> = new Set(["Tensor.to", "Tensor.cuda"]);

/** Operators that only look at data. */
const looks =
  /^Tensor\.(__getitem__|view|reshape|narrow|select|split|chunk|unsqueeze|squeeze|T|detach|numpy)$/;

/** Whether an operator puts its result where a person said, as `torch.zeros(…, device=device)` does. */
export function placesResult(name: string, keywords: Keywords): boolean {
  if (moves.has(name)) return true;
  const { device } = keywords;
  if (device === undefined || device === null) return false;
  const isHost = typeof device === "string" ? device.startsWith("cpu") : isNamedHost(device);
  return !isHost;
}

function isNamedHost(device: Keywords[string]): boolean {
  return (
    typeof device === "object" &&
    device !== null &&
    "kind" in device &&
    device.kind === "device" &&
    device.name.startsWith("cpu")
  );
}

/** The device's copy of data that waited on the host, where this operator makes one; data that is computed with is moved. */
export function movedData(interpreter: Interpreter, name: string, args: CallArguments): Value | undefined {
  const { execution, references, training } = interpreter;
  if (training === undefined) return undefined;
  const [first] = args.positional;
  if (first instanceof Tensor && moves.has(name)) training.noteMove(first);
  if (interpreter.namesGpu && moves.has(name) && first instanceof Tensor) {
    const device = name === "Tensor.cuda" ? "gpu" : deviceAmong(args.withoutFirst());
    if (device === "gpu" && isHosted(interpreter, first))
      return references.own(execution.input(first.shape, first.dtype, first.bound));
    if (device === "host" && !isHosted(interpreter, first)) {
      const copy = execution.call("Tensor.cpu", [first], {}, interpreter.location);
      return copy instanceof Tensor ? references.own(copy) : undefined;
    }
  }
  if (training.waiting.size === 0 || looks.test(name)) return undefined;
  if (moves.has(name) && first instanceof Tensor && training.waiting.has(first.storage)) {
    const copy = execution.input(first.shape, first.dtype, first.bound);
    return references.own(copy);
  }
  // a batch is made on the host, whatever is computed for it
  if (!training.isMakingBatch) useData(interpreter, args.values());
  return undefined;
}

/** Data that is computed with, or given to a model, is on the device. */
export function useData({ execution, training }: Interpreter, values: Iterable<Value>): void {
  if (training === undefined || training.waiting.size === 0) return;
  for (const value of values) {
    if (!(value instanceof Tensor) || !training.waiting.has(value.storage)) continue;
    training.waiting.delete(value.storage);
    execution.changeKind(value.storage, "input");
  }
}

/** Modules and tensors that can be reached from values, modules' own tensors left out. */
export interface Reachable {
  /** With the shortest name that leads there. */
  readonly modules: ReadonlyMap<ObjectValue, string>;
  readonly tensors: readonly Tensor[];
  /** All that was gone through. */
  readonly objects: ReadonlySet<Heap>;
}

/** More values than this are not gone through. */
const mostValues = 100_000;

/** What the variables of a script's frames hold. The modules are those that lie in no other one. */
export function reachableFrom(variables: Iterable<readonly [string, Value]>): Reachable {
  const found = new Map<ObjectValue, string>();
  const tensors = new Set<Tensor>();
  const seen = new Set<Heap>();
  const pending: { readonly name: string; readonly value: Value }[] = [];
  for (const [name, value] of variables) pending.push({ name, value });
  for (const { name, value } of pending) {
    if (value instanceof Tensor) tensors.add(value);
    if (!(value instanceof Heap) || seen.has(value) || seen.size > mostValues) continue;
    seen.add(value);
    if (value instanceof ObjectValue && value.module !== undefined) {
      found.set(value, name);
      continue;
    }
    if (value instanceof ObjectValue) {
      for (const [key, inner] of value.attributes) pending.push({ name: key, value: inner });
      if (value.payload !== undefined) pending.push({ name, value: value.payload });
    } else for (const inner of value.held()) pending.push({ name, value: inner });
  }
  const inside = new Set([...found.keys()].flatMap((module) => modulesOf(module).slice(1)));
  const modules = new Map([...found].filter(([module]) => !inside.has(module)));
  return { modules, tensors: [...tensors], objects: seen };
}
