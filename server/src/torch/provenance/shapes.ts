/** What the shape of a call or expression alone says: numbers, reductions to one element, results that are one tensor. */
import type { Call, Expression, FunctionDefinition } from "../../python/tree";
import { lossFunctions } from "../api";
import type { Resolver } from "../resolve";
import type { Path } from "./value";

/** `loss` of `loss / k`, `loss * scale` where the other operand is a number. */
export function scaledLeaf(value: Expression): Expression {
  let at = value;
  while (at.kind === "BinaryOperation") {
    if (at.operator === "/" || (at.operator === "*" && isNumber(at.right))) at = at.left;
    else if (at.operator === "*" && isNumber(at.left)) at = at.right;
    else return at;
  }
  return at;
}

export function isNumber(value: Expression | undefined): boolean {
  let expression = value;
  while (expression?.kind === "UnaryOperation") expression = expression.operand;
  if (expression === undefined) return false;
  if (expression.kind === "Integer" || expression.kind === "Float") return true;
  if (expression.kind !== "Call") return false;
  if (expression.callee.kind === "Name") return /^(len|int|float)$/.test(expression.callee.id);
  return (
    expression.callee.kind === "Attribute" &&
    /^(size|numel|item|dim|nelement)$/.test(expression.callee.attribute.id)
  );
}

export function argumentsOf(call: Call): Expression[] {
  return [...call.positional, ...call.keywords.map(({ value }) => value), ...call.keywordSpreads];
}

/** The model of `model(x)` and of `model.forward(x)`. */
export function forwardReceiver(call: Call): Expression {
  const { callee } = call;
  return callee.kind === "Attribute" && callee.attribute.id === "forward" ? callee.object : callee;
}

export function matchesKey(key: Expression | undefined, wanted: number | string | undefined): boolean {
  if (wanted === undefined || wanted === "*" || key === undefined) return true;
  if (key.kind === "String" || key.kind === "Integer") return key.value === wanted;
  return true;
}

/** Which part of their arguments builtins pass on: `sum(xs)` adds elements, `list(xs)[0]` is one. */
export function wholeOf(name: string, path: Path): Path {
  if (/^builtins\.(list|tuple|sorted|reversed|iter|set|dict)$/.test(name)) return path;
  return [];
}

export function isScalarFunction(call: Call, name: string): boolean {
  if (lossFunctions.has(name)) return reducesToScalar(call);
  return /^torch\.(sum|mean)$/.test(name) && call.positional.length === 1 && !hasDimension(call);
}

export function hasDimension(call: Call): boolean {
  return call.keywords.some(({ name }) => /^(dim|axis|keepdim|keepdims)$/.test(name.id));
}

/** False for `reduction="none"` and whatever cannot be read. */
export function reducesToScalar(call: Call | undefined): boolean {
  if (call === undefined || call.keywordSpreads.length > 0) return false;
  return call.keywords.every(({ name, value }) => {
    if (name.id === "reduction")
      return value.kind === "String" && (value.value === "mean" || value.value === "sum");
    return name.id !== "reduce";
  });
}

export function createsGraph(call: Call): boolean {
  return call.keywords.some(
    ({ name, value }) => name.id === "create_graph" && !(value.kind === "Boolean" && !value.value),
  );
}

/** Classes and factories whose call gives one tensor. */
export function givesTensor(className: string): boolean {
  if (
    /^torch\.nn\.(Sequential|Linear|Conv\d.|Embedding|LayerNorm|BatchNorm\d.|Bilinear|ConvTranspose\d.)/.test(
      className,
    )
  )
    return true;
  return (
    /^torchvision\.models\.(resnet|resnext|wide_resnet|vgg|densenet|mobilenet|efficientnet|alexnet|convnext|vit|swin|squeezenet|regnet|mnasnet|shufflenet)/.test(
      className,
    ) || className === "timm.create_model"
  );
}

export function isGenerator(target: FunctionDefinition, resolver: Resolver): boolean {
  return (resolver.index.returns.get(target) ?? []).some(({ kind }) => kind === "Yield");
}
