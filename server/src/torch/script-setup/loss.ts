/** The loss that a script's backward starts from. */
import type { Call, Expression } from "../../python/tree";
import { lossFunctions } from "../api";
import type { ScriptLoss, ScriptValue, SetupContext } from "../script-setup";
import type { Place, TraceEvent } from "../training-loop";

const maximalDepth = 16;

export function lossOf(context: SetupContext): ScriptValue<ScriptLoss> | undefined {
  const backwards = new Map<unknown, TraceEvent>();
  for (const loop of context.trainingLoops.loops) {
    for (const backward of loop.backwards) backwards.set(backward.node, backward);
  }
  const found = [...backwards.values()].map(({ subject, places }) =>
    subject === undefined ? undefined : new LossFinder(context).find(subject, places, 0),
  );
  const [first] = found;
  if (first === undefined) return undefined;
  const same = found.every(
    (other) => other?.value.name === first.value.name && other.value.reduction === first.value.reduction,
  );
  return same ? first : undefined;
}

class LossFinder {
  private readonly following = new Set<Expression>();

  constructor(private readonly context: SetupContext) {}

  /** The call that computes the loss; `undefined` for sums of losses and for what is not understood. */
  find(expression: Expression, places: readonly Place[], depth: number): ScriptValue<ScriptLoss> | undefined {
    if (depth > maximalDepth || this.following.has(expression)) return undefined;
    this.following.add(expression);
    switch (expression.kind) {
      case "Name":
        return this.findName(expression, places, depth + 1);
      case "BinaryOperation":
        // Scaling: `loss / k`, `loss * weight`.
        return expression.operator === "/" || expression.operator === "*"
          ? this.find(expression.left, places, depth + 1)
          : undefined;
      case "Call":
        return this.findCall(expression, places, depth + 1);
      case "Attribute":
        return expression.attribute.id === "loss" && this.isModelOutput(expression.object)
          ? { value: { name: "model", form: "model", reduction: undefined }, span: expression }
          : undefined;
      default:
        return undefined;
    }
  }

  private findName(name: Expression & { kind: "Name" }, places: readonly Place[], depth: number) {
    const { scopes } = this.context.resolver;
    let found: ScriptValue<ScriptLoss> | undefined;
    for (const binding of scopes.lookup(name)) {
      if (binding.kind === "augmented") {
        // `loss /= k` scales; `loss += other` adds a loss we do not model.
        const scales =
          binding.node.kind === "AugmentedAssign" &&
          (binding.node.operator === "/" || binding.node.operator === "*");
        if (scales) continue;
        return undefined;
      }
      if (binding.kind !== "assignment" || binding.value === undefined) return undefined;
      if (isOwnScaling(binding.value, name.id)) continue;
      const one =
        binding.path.length === 0
          ? this.find(binding.value, places, depth)
          : this.findUnpacked(binding.value, binding.path, places, depth);
      if (one === undefined || (found !== undefined && found.value.name !== one.value.name)) return undefined;
      found ??= one;
    }
    return found;
  }

  /** `logits, loss = model(x, y)`, `loss, output = step(batch)`. */
  private findUnpacked(value: Expression, path: readonly number[], places: readonly Place[], depth: number) {
    if (value.kind !== "Call") return undefined;
    const target = this.context.resolver.functionOf(value);
    if (target !== undefined) {
      const [returned, other] = this.context.resolver.returnedValues(target);
      const element =
        returned?.kind === "Tuple" && path.length === 1 ? returned.elements[path[0] ?? 0] : undefined;
      return other === undefined && element !== undefined ? this.find(element, places, depth) : undefined;
    }
    return this.context.resolver.roleOf(value.callee) === "model"
      ? { value: { name: "model", form: "model" as const, reduction: undefined }, span: value }
      : undefined;
  }

  private findCall(call: Call, places: readonly Place[], depth: number): ScriptValue<ScriptLoss> | undefined {
    const { resolver } = this.context;
    const name = resolver.qualifiedName(call.callee);
    if (name !== undefined && lossFunctions.has(name)) return this.found(call, name, "function", call);
    const object = resolver.objectOf(call.callee);
    if (object?.role === "loss-module") {
      if (object.className === undefined) return undefined;
      return this.found(call, object.className, "module", object.construction);
    }
    if (
      call.callee.kind === "Attribute" &&
      /^(mean|to|float|squeeze|div|mul)$/.test(call.callee.attribute.id)
    ) {
      return this.find(call.callee.object, places, depth);
    }
    const target = resolver.functionOf(call);
    if (target === undefined) return undefined;
    const takesModel = call.positional.some((argument) => resolver.roleOf(argument) === "model");
    if (!takesModel && call.callee.kind === "Name" && call.positional.length === 2) {
      return { value: { name: call.callee.id, form: "function", reduction: undefined }, span: call };
    }
    const [returned, other] = resolver.returnedValues(target);
    return returned === undefined || other !== undefined ? undefined : this.find(returned, places, depth);
  }

  private found(
    call: Call,
    name: string,
    form: "function" | "module",
    configured: Call | undefined,
  ): ScriptValue<ScriptLoss> | undefined {
    const given =
      configured === undefined ? undefined : this.context.constants.argument(configured, "reduction");
    const reduction = given === undefined ? undefined : this.context.constants.valueOf(given);
    if (given !== undefined && typeof reduction !== "string") return undefined;
    return {
      value: { name, form, reduction: typeof reduction === "string" ? reduction : undefined },
      span: call,
    };
  }

  private isModelOutput(expression: Expression): boolean {
    const values = expression.kind === "Call" ? [expression] : this.context.resolver.valuesOf(expression);
    return (
      values.length > 0 &&
      values.every((value) => value.kind === "Call" && this.context.resolver.roleOf(value.callee) === "model")
    );
  }
}

/** `loss = loss / k`. */
function isOwnScaling(value: Expression, name: string): boolean {
  if (value.kind === "BinaryOperation" && (value.operator === "/" || value.operator === "*")) {
    return value.left.kind === "Name" && value.left.id === name;
  }
  if (value.kind !== "Call" || value.callee.kind !== "Attribute") return false;
  const { object, attribute } = value.callee;
  return object.kind === "Name" && object.id === name && /^(mean|div|mul|to|float)$/.test(attribute.id);
}
