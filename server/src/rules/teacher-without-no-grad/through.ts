/** Models that nobody trains, but that gradients have to go through. */
import { lastName } from "../../python/last-name";
import type { Call, ClassDefinition } from "../../python/tree";
import { someNode } from "../../python/walk";
import { argumentsOf } from "../../torch/provenance/shapes";
import type { BackwardCall } from "../../torch/provenance";
import type { ResolvedObject } from "../../torch/resolve";

import type { RuleContext } from "../rule";

/** An argument surely brings the graph of something else: the output of the model that is trained. */
export function bringsGraph({ torch: { provenance } }: RuleContext, call: Call): boolean {
  return argumentsOf(call).some((argument) => {
    const { graph, certainty, sources } = provenance.carriedHere(argument);
    return graph === "yes" && certainty === "resolved" && sources.size > 0;
  });
}

/**
 * The model's class switches its own gradients off, or may: that of a library that is not known to leave them on. Networks of
 * torchvision come with gradients on, and so does what is put together from layers.
 */
export function mayFreezeItself(
  { torch: { resolve } }: RuleContext,
  { classDefinition, importedClass, className, certainty }: ResolvedObject,
): boolean {
  if (certainty === "name") return true;
  const definition = classDefinition ?? importedClass?.definition;
  if (definition === undefined) return !/^(torchvision\.models|torch\.nn)\./.test(className ?? "");
  return holdsSwitch(definition) || (classDefinition !== undefined && buildsOthers(definition, resolve));
}

const switches = /requires_grad|freez|no_grad|detach|inference_mode/i;

function holdsSwitch(definition: ClassDefinition): boolean {
  return someNode(
    definition,
    (node) =>
      (node.kind === "Name" && switches.test(node.id)) ||
      (node.kind === "Attribute" && switches.test(node.attribute.id)),
  );
}

/** A part of it is of a class of this file that switches gradients off. */
function buildsOthers(definition: ClassDefinition, resolve: RuleContext["torch"]["resolve"]): boolean {
  return someNode(definition, (node) => {
    const built = node.kind === "Call" ? resolve.constructedClass(node) : undefined;
    return built !== undefined && built !== definition && holdsSwitch(built);
  });
}

/** `loss.backward()`; `autograd.grad(loss, x)` and `loss.backward(inputs=x)` leave the weights alone. */
export function reachesWeights({ call }: BackwardCall): boolean {
  return (
    /backward$/.test(lastName(call.callee) ?? "") && !call.keywords.some(({ name }) => name.id === "inputs")
  );
}
