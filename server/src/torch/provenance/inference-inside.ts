/**
 * Models that switch gradients off themselves: a detector whose `forward` hands over to a method under
 * `@torch.no_grad()` where it does not train, or that runs its backbone under `torch.inference_mode()`.
 */
import type { Expression } from "../../python/tree";
import type { ImportedFunction } from "../imported";
import type { ResolvedObject, Resolver } from "../resolve";
import { methodOfImported } from "../resolve-imported";
import type { GradientModes } from "./gradient-mode";

/**
 * One of the results of the model's `forward` comes from code that runs without gradients. Which one an evaluation gets is not
 * known, but the author has thought of it. False where the class is not known.
 */
export function switchesOffInside(
  { classDefinition, importedClass }: ResolvedObject,
  resolver: Resolver,
  modes: GradientModes,
): boolean {
  const own = classDefinition && resolver.methodOf(classDefinition, "forward");
  if (own !== undefined) return resolver.returnedValues(own).some((value) => isOff(value, resolver, modes));
  const elsewhere: ImportedFunction | undefined = classDefinition
    ? resolver.imported.methodOf(classDefinition, "forward")
    : methodOfImported(importedClass, "forward");
  if (elsewhere === undefined) return false;
  const { resolve, provenance } = elsewhere.file.torch;
  return resolve
    .returnedValues(elsewhere.definition)
    .some((value) => isOff(value, resolve, provenance.modes));
}

/** The value is made where autograd does not record, or is what a function gives that is decorated so. */
function isOff(value: Expression, resolver: Resolver, modes: GradientModes): boolean {
  const values = value.kind === "Name" ? resolver.valuesOf(value) : [value];
  return values.some((made) => {
    if (made.kind !== "Call") return false;
    if (modes.lexicallyAt(made) === "off") return true;
    const target = resolver.functionOf(made);
    return target !== undefined && modes.isTurnedOffBy(target);
  });
}
