/** The table of `torch.nn` modules by name, and how they are constructed and called. */
import type { Argument, Keywords } from "../operators/argument";
import { moduleNotKnown } from "../operators/reasons";
import { bind, parseSignature } from "../operators/signature";
import { NotUnderstood } from "../operators/values";
import type { Execution, Location } from "../tape";
import { Unknown } from "../unknown";
import type { ModuleObject, ModuleRow } from "./module";
import { moduleRows } from "./table";

let byName: Map<string, ModuleRow> | undefined;

/** The row of a class of `torch.nn`, e.g. `torch.nn.Conv2d`. */
export function findModule(name: string): ModuleRow | undefined {
  if (byName === undefined) {
    byName = new Map();
    for (const row of moduleRows()) byName.set(row.name, row);
  }
  return byName.get(name);
}

/**
 * Runs the constructor of a class of `torch.nn` on an object: also what `super().__init__(…)` of a subclass does. Answers
 * an Unknown that says what was not understood, else undefined.
 */
export function constructModule(
  execution: Execution,
  torchClass: string,
  module: ModuleObject,
  positional: readonly Argument[],
  keywords: Keywords,
): Unknown | undefined {
  const row = findModule(torchClass);
  if (row === undefined) return new Unknown(moduleNotKnown(torchClass), undefined);
  const bound = bind(torchClass, parseSignature(row.constructorParameters), positional, keywords);
  if (!("values" in bound) || !("rest" in bound)) return new Unknown(bound, undefined);
  try {
    return row.construct({ execution, module, values: bound.values, rest: bound.rest, torchClass });
  } catch (error) {
    if (error instanceof NotUnderstood) return new Unknown(error.reason, undefined);
    throw error;
  }
}

/** Runs the forward of a class of `torch.nn` on an object; the caller owns the tensors of the answer. */
export function forwardModule(
  execution: Execution,
  torchClass: string,
  module: ModuleObject,
  positional: readonly Argument[],
  keywords: Keywords,
  location: Location,
): Argument {
  const row = findModule(torchClass);
  if (row === undefined) return new Unknown(moduleNotKnown(torchClass), location.span);
  const bound = bind(torchClass, parseSignature(row.forwardParameters), positional, keywords);
  if (!("values" in bound) || !("rest" in bound)) return new Unknown(bound, location.span);
  try {
    return row.forward({ execution, module, values: bound.values, rest: bound.rest, torchClass, location });
  } catch (error) {
    if (error instanceof NotUnderstood) return new Unknown(error.reason, location.span);
    throw error;
  }
}
