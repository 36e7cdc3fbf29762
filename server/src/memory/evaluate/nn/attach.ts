/** Putting parameters, buffers and submodules on a module. */
import { message } from "../../../messages/message";
import { unknownReasons } from "../../../messages/estimate";
import type { Span } from "../../../python/tree";
import { Tensor } from "../../tensor";
import { isUnknown, Unknown } from "../../unknown";
import type { Interpreter } from "../interpreter";
import { rootOf } from "../reasons";
import type { LazyMap } from "../lazy-map";
import { ObjectValue, type Value } from "../values";
import type { ModuleState } from "./state";

type Table = "parameters" | "buffers" | "modules";

/** `module.name = value` as nn.Module's `__setattr__` does it; false when it is a plain attribute. */
export function attachAttribute(
  interpreter: Interpreter,
  object: ObjectValue,
  name: string,
  value: Value,
): boolean {
  const state = object.module;
  if (state === undefined) return false;
  if (value instanceof Tensor && interpreter.parameterTensors.has(value)) {
    noteReplaced(interpreter, state, name, value);
    attach(interpreter, object, "parameters", name, value);
    return true;
  }
  if (value instanceof Tensor && interpreter.bufferTensors.has(value)) {
    interpreter.execution.asBuffer(value);
    attach(interpreter, object, "buffers", name, value);
    return true;
  }
  if (value instanceof ObjectValue && value.module !== undefined) {
    attach(interpreter, object, "modules", name, value);
    return true;
  }
  if (isUnknown(value) && interpreter.callResults.has(value)) {
    attachUnknown(interpreter, object, name, value);
    return false;
  }
  if (value !== null && !(value instanceof Tensor)) return false;
  if (state.buffers.has(name)) {
    if (value !== null) interpreter.execution.asBuffer(value);
    attach(interpreter, object, "buffers", name, value);
    return true;
  }
  if (value !== null) return false;
  if (state.parameters.has(name)) attach(interpreter, object, "parameters", name, null);
  else if (state.modules.has(name)) attach(interpreter, object, "modules", name, null);
  else return false;
  return true;
}

/** A forward that puts a parameter in another's place: the optimizer was given the one before, and holds it. */
function noteReplaced(interpreter: Interpreter, state: ModuleState, name: string, value: Tensor): void {
  const before = state.parameters.get(name);
  if (!interpreter.tracing || !(before instanceof Tensor) || before === value) return;
  interpreter.execution.noteBound(message(unknownReasons.replacedParameter, { name }));
}

export function attach(
  interpreter: Interpreter,
  object: ObjectValue,
  table: Table,
  name: string,
  value: Tensor | ObjectValue | null,
): void {
  const state = object.module;
  if (state === undefined) return;
  detachOthers(interpreter, object, table, name);
  const entries = state[table] as LazyMap<string, Value>;
  const before = entries.get(name);
  interpreter.references.adopt(object, value);
  entries.set(name, value);
  if (before !== undefined) interpreter.references.disown(object, before);
  const at = interpreter.statement;
  if (table === "modules" && at !== undefined) state.attachedAt.set(name, at);
}

/** A name lives in one of the tables only. */
function detachOthers(interpreter: Interpreter, object: ObjectValue, table: Table, name: string): void {
  const state = object.module;
  if (state === undefined) return;
  for (const other of ["parameters", "buffers", "modules"] as const) {
    if (other !== table) detach(interpreter, object, state, other, name);
  }
  const plain = object.attributes.get(name);
  if (plain !== undefined) {
    object.attributes.delete(name);
    interpreter.references.disown(object, plain);
  }
  state.unknownParts.delete(name);
}

function detach(
  interpreter: Interpreter,
  object: ObjectValue,
  state: ModuleState,
  table: Table,
  name: string,
): boolean {
  const before = state[table].get(name);
  if (before === undefined) return false;
  state[table].delete(name);
  interpreter.references.disown(object, before);
  return true;
}

/** `del module.name`; false when the name is in none of the tables. */
export function detachAttribute(interpreter: Interpreter, object: ObjectValue, name: string): boolean {
  const state = object.module;
  if (state === undefined) return false;
  state.unknownParts.delete(name);
  return (["parameters", "buffers", "modules"] as const).some((table) =>
    detach(interpreter, object, state, table, name),
  );
}

const partTexts = {
  /** An attribute: what it is nobody knows. */
  part: unknownReasons.submodule,
  buffer: unknownReasons.unknownBuffer,
  parameter: unknownReasons.unknownParameter,
} as const;

/** A part that may hold parameters or buffers: what it needs is not counted, and that is said. */
export function attachUnknown(
  interpreter: Interpreter,
  object: ObjectValue,
  name: string,
  value: Unknown,
  kind: keyof typeof partTexts = "part",
): void {
  const span: Span | undefined = value.span ?? interpreter.statement;
  const unknown = new Unknown(message(partTexts[kind], { name, reason: rootOf(value.reason) }), span);
  object.module?.unknownParts.set(name, unknown);
}

/** A parameter, buffer or submodule by name. */
export function attached(object: ObjectValue, name: string): Value | undefined {
  const state = object.module;
  if (state === undefined) return undefined;
  if (state.parameters.has(name)) return state.parameters.get(name) ?? null;
  if (state.buffers.has(name)) return state.buffers.get(name) ?? null;
  if (state.modules.has(name)) return state.modules.get(name) ?? null;
  return undefined;
}
