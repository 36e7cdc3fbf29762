/**
 * Objects of libraries that take gradients themselves, of the outputs they are given (`cam = GradCAM(model)`, then
 * `cam(index, scores)`) or of a forward that they run (`attack = PGD(model)`, then `attack(images, labels)`).
 */
import { FileMemo } from "../../python/file-memo";
import type { Call, Expression } from "../../python/tree";
import type { Resolver } from "../resolve";
import { argumentsOf } from "./shapes";
import type { BackwardCall } from "./sinks";

const library =
  /^(torchcam|pytorch_grad_cam|grad_cam|captum|zennit|torchattacks|autoattack|advertorch|foolbox|art|cleverhans|robustness|torchviz)(\.|$)/;

/** What draws the graph of its argument, and has nothing to draw without one. */
const drawing = /^torchviz\.(\w+\.)?make_dot$/;

/** The calls of such objects, each of which walks the graph of what it is given. */
export function libraryBackwards(resolver: Resolver): BackwardCall[] {
  if (!importsLibrary(resolver)) return [];
  const found: BackwardCall[] = [];
  for (const call of resolver.index.calls) {
    const values = argumentsOf(call);
    if (values.length === 0 || !isOfLibrary(call, resolver)) continue;
    found.push({ call, values, retains: "unknown", scalar: false });
  }
  return found;
}

/** `cam(…)`, `explainer.attribute(…)` of an object that such a library made. */
export function takesGradients(call: Call, resolver: Resolver): boolean {
  return importsLibrary(resolver) && isOfLibrary(call, resolver);
}

const importing = new FileMemo<boolean>();

/** At the top of the file, or in a function that draws a graph once. */
function importsLibrary({ module, index }: Resolver): boolean {
  return importing.of(module, () =>
    index.imports.some((one) =>
      one.kind === "ImportFrom" ? library.test(one.module) : one.names.some(({ name }) => library.test(name)),
    ),
  );
}

function isOfLibrary({ callee }: Call, resolver: Resolver): boolean {
  return (
    drawing.test(resolver.qualifiedName(callee) ?? "") ||
    isMadeByLibrary(callee, resolver) ||
    (callee.kind === "Attribute" && isMadeByLibrary(callee.object, resolver))
  );
}

function isMadeByLibrary(object: Expression, resolver: Resolver): boolean {
  return madeFrom(object, resolver).some(
    (value) => value.kind === "Call" && library.test(resolver.qualifiedName(value.callee) ?? ""),
  );
}

/** `cam = GradCAM(model)` and `with GradCAM(model) as cam:`. */
function madeFrom(object: Expression, resolver: Resolver): readonly Expression[] {
  if (object.kind === "Call") return [object];
  if (object.kind !== "Name") return resolver.valuesOf(object);
  return resolver.scopes
    .lookup(object)
    .flatMap(({ kind, value, path }) =>
      value !== undefined && path.length === 0 && (kind === "assignment" || kind === "with") ? [value] : [],
    );
}
