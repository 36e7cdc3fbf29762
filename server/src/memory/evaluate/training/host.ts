/** What a script moves to the host's memory beside models on a GPU: it counts for nothing there, nor does what is computed of it. */
import { Tensor } from "../../tensor";
import type { CallArguments } from "../arguments";
import type { Interpreter } from "../interpreter";
import { tensorsOf } from "../nn/state";
import { DeviceValue, ListValue, TupleValue, type ObjectValue, type Value } from "../values";
import { parametersOf } from "./groups";

/** Where a person has put something. */
export type Place = "gpu" | "host";

/** The device among the arguments of `to`; undefined where they name none, or what it is is not known. */
export function deviceAmong(args: CallArguments): Place | undefined {
  for (const value of args.values()) {
    const name = value instanceof DeviceValue ? value.name : value;
    if (typeof name === "string") return name.startsWith("cpu") ? "host" : "gpu";
    if (typeof name === "number") return "gpu";
  }
  return undefined;
}

/** `model.cuda()`, `model.cpu()`, `model.to(device)`; a model that is trained is taken to come back from the CPU. */
export function placeModule(interpreter: Interpreter, module: ObjectValue, place: Place): ObjectValue {
  const { onHost, placed } = interpreter;
  if (place === "gpu") {
    placed.add(module);
    onHost.delete(module);
    interpreter.namesGpu = true;
    if (interpreter.training !== undefined) settle(interpreter, module, "gpu");
    return module;
  }
  if (interpreter.training === undefined) {
    // a script that names no other device may do so as well
    placed.add(module);
    onHost.add(module);
  } else if (interpreter.namesGpu && !isTrained(interpreter, module)) {
    onHost.add(module);
    settle(interpreter, module, "host");
  }
  return module;
}

/** Modules that a script moved to the CPU before its loop, beside others on a GPU, count for nothing there. */
export function settleHostModules(interpreter: Interpreter): void {
  const { onHost } = interpreter;
  for (const module of onHost) {
    if (interpreter.namesGpu && !isTrained(interpreter, module)) settle(interpreter, module, "host");
    else onHost.delete(module);
  }
}

function settle({ execution }: Interpreter, module: ObjectValue, place: Place): void {
  for (const kind of ["parameters", "buffers"] as const)
    for (const { storage } of tensorsOf(module, kind))
      execution.changeKind(
        storage,
        place === "host" ? "host" : kind === "parameters" ? "parameter" : "buffer",
      );
}

function isTrained({ optimizers }: Interpreter, module: ObjectValue): boolean {
  const trained = new Set([...optimizers].flatMap(parametersOf));
  return tensorsOf(module, "parameters").some((tensor) => trained.has(tensor));
}

/** Whether a tensor is in the host's memory because the script has moved it there. */
export function isHosted({ training }: Interpreter, value: Value | undefined): value is Tensor {
  return (
    value instanceof Tensor && value.storage.kind === "host" && training?.waiting.has(value.storage) !== true
  );
}

/** Whether an operator computes in the host's memory: its first operand says it. */
export function computesOnHost(interpreter: Interpreter, args: CallArguments): boolean {
  if (!interpreter.namesGpu) return false;
  const [first] = args.positional;
  const operand = first instanceof ListValue || first instanceof TupleValue ? first.items[0] : first;
  return isHosted(interpreter, operand);
}
