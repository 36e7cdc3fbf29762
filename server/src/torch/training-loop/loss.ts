/**
 * Whether the loss of a backward is divided by the accumulation steps anywhere on its way. Anything that is not
 * understood counts as divided: only a loss that is known to be a mean over its micro-batch is called unscaled.
 */
import { keyword } from "../../python/keyword";
import type { Binding } from "../../python/scope";
import type { BinaryOperation, Call, Expression, FunctionDefinition } from "../../python/tree";
import { enclosingLoop, someNode, walk } from "../../python/walk";
import { lossFunctions } from "../api";
import type { Certainty, Resolver } from "../resolve";
import { lastNameOf, weaker } from "./classify";
import type { CallPlace, Place } from "./event";

export interface LossVerdict {
  /** `mean`: a mean over the micro-batch that nothing divides. `other`: divided, summed, or not understood. */
  readonly verdict: "mean" | "other";
  readonly certainty: Certainty;
}

/** Verdicts inside: `neutral` for what adds nothing (a zero to start with, a name that is being followed already). */
interface Judgement {
  readonly verdict: "mean" | "scaled" | "unknown" | "neutral";
  readonly certainty: Certainty;
}

const mean: Judgement = { verdict: "mean", certainty: "resolved" };
const meanByName: Judgement = { verdict: "mean", certainty: "name" };
const scaled: Judgement = { verdict: "scaled", certainty: "resolved" };
const unknown: Judgement = { verdict: "unknown", certainty: "resolved" };
const neutral: Judgement = { verdict: "neutral", certainty: "resolved" };

/** Methods that hand on the same value. */
const passingMethods =
  /^(to|float|half|double|bfloat16|cuda|cpu|squeeze|unsqueeze|view|reshape|clone|contiguous|flatten)$/;
const maximalDepth = 24;

/** Judges a loss where a backward uses it; `places` is the path of that backward. */
export function judgeLoss(resolver: Resolver, loss: Expression, places: readonly Place[]): LossVerdict {
  const { verdict, certainty } = new Judge(resolver).judge(loss, places, 0);
  return { verdict: verdict === "mean" ? "mean" : "other", certainty };
}

class Judge {
  private readonly following = new Set<string>();

  constructor(private readonly resolver: Resolver) {}

  judge(expression: Expression, places: readonly Place[], depth: number): Judgement {
    if (depth > maximalDepth) return unknown;
    switch (expression.kind) {
      case "Integer":
      case "Float":
      case "None":
        return neutral;
      case "BinaryOperation":
        return this.judgeOperation(expression, places, depth);
      case "UnaryOperation":
        return expression.operator === "not" ? unknown : this.judge(expression.operand, places, depth + 1);
      case "Conditional":
        return either([
          this.judge(expression.body, places, depth + 1),
          this.judge(expression.orelse, places, depth + 1),
        ]);
      case "NamedExpression":
      case "Await":
        return this.judge(expression.value, places, depth + 1);
      case "Name":
        return this.judgeName(expression, places, depth);
      case "Call":
        return this.judgeCall(expression, places, depth, []);
      case "Attribute":
      case "Subscript":
        return this.judgePart(expression, places, depth);
      default:
        return unknown;
    }
  }

  private judgeOperation(operation: BinaryOperation, places: readonly Place[], depth: number): Judgement {
    const { operator, left, right } = operation;
    if (operator === "/") return scaled;
    if (operator !== "+" && operator !== "-" && operator !== "*") return unknown;
    const judgements = [this.judge(left, places, depth + 1), this.judge(right, places, depth + 1)];
    return operator === "*" ? product(operation, judgements) : sum(judgements);
  }

  private judgeName(name: Expression & { kind: "Name" }, places: readonly Place[], depth: number): Judgement {
    const bindings = this.resolver.scopes.lookup(name);
    const [first] = bindings;
    if (first === undefined) return unknown;
    const key = `${first.scope.owner.start} ${first.scope.owner.kind} ${name.id}`;
    if (this.following.has(key)) return neutral;
    this.following.add(key);
    const judgements: Judgement[] = [];
    for (const binding of bindings) {
      if (binding.kind === "parameter")
        judgements.push(this.judgeParameter(first.name, binding.scope.owner, places, depth));
      else if (sumsInLoop(binding, places)) judgements.push(unknown);
      else if (binding.kind === "augmented" && binding.node.kind === "AugmentedAssign") {
        const { operator, value } = binding.node;
        if (operator === "/") judgements.push(scaled);
        else if (operator === "+" || operator === "-") judgements.push(this.judge(value, places, depth + 1));
        else judgements.push(unknown);
      } else if (binding.kind === "delete") continue;
      else if (binding.kind !== "assignment" && binding.kind !== "walrus") judgements.push(unknown);
      else if (binding.value === undefined) judgements.push(unknown);
      else if (binding.path.length === 0) judgements.push(this.judge(binding.value, places, depth + 1));
      else if (binding.value.kind === "Call") {
        judgements.push(this.judgeCall(binding.value, places, depth + 1, binding.path));
      } else judgements.push(unknown);
    }
    this.following.delete(key);
    return either(judgements);
  }

  private judgeParameter(
    name: string,
    owner: { readonly kind: string },
    places: readonly Place[],
    depth: number,
  ): Judgement {
    const index = places.findLastIndex((place) => place.kind === "call" && place.target === owner);
    const place = places[index];
    if (place?.kind !== "call" || place.target.kind !== "FunctionDefinition") return unknown;
    const argument = this.resolver.argumentFor(place.call, place.target, name);
    return argument === undefined ? unknown : this.judge(argument, places.slice(0, index), depth + 1);
  }

  private judgeCall(call: Call, places: readonly Place[], depth: number, path: readonly number[]): Judgement {
    const qualified = this.resolver.qualifiedName(call.callee);
    if (qualified !== undefined && lossFunctions.has(qualified)) return byReduction(call);
    if (qualified === "torch.mean") return this.judgeMean(call.positional[0], places, depth);
    const target = this.resolver.functionOf(call);
    if (target !== undefined) return this.judgeReturns(call, target, places, depth, path);
    const object = this.resolver.objectOf(call.callee);
    if (object?.role === "loss-module") {
      if (object.construction !== undefined && object.classDefinition === undefined) {
        return byReduction(object.construction);
      }
      return object.classDefinition === undefined && object.certainty === "name" ? meanByName : unknown;
    }
    if (object?.role === "model") return unknown;
    if (call.callee.kind !== "Attribute") return unknown;
    const method = call.callee.attribute.id;
    if (method === "mean") return this.judgeMean(call.callee.object, places, depth);
    if (passingMethods.test(method)) return this.judge(call.callee.object, places, depth + 1);
    return unknown;
  }

  /** A mean of anything is a mean, unless what it is taken of was divided before. */
  private judgeMean(of: Expression | undefined, places: readonly Place[], depth: number): Judgement {
    if (of === undefined) return unknown;
    if (dividesInside(of)) return scaled;
    const judged = this.judge(of, places, depth + 1);
    return judged.verdict === "scaled" ? scaled : mean;
  }

  /** What a function of this file returns, or the element of it that `path` asks for. */
  private judgeReturns(
    call: Call,
    target: FunctionDefinition,
    places: readonly Place[],
    depth: number,
    path: readonly number[],
  ): Judgement {
    const key = `function ${target.start}`;
    if (this.following.has(key)) return unknown;
    this.following.add(key);
    const place: CallPlace = { kind: "call", call, target };
    const judgements: Judgement[] = [];
    walk(target, {
      enter: (node) => {
        if (node === target) return;
        if (node.kind === "FunctionDefinition" || node.kind === "Lambda" || node.kind === "ClassDefinition")
          return false;
        if (node.kind !== "Return") return;
        const value = elementAt(node.value, path);
        judgements.push(value === undefined ? unknown : this.judge(value, [...places, place], depth + 1));
        return false;
      },
    });
    this.following.delete(key);
    return either(judgements);
  }

  /** `outputs.loss`, `outputs["loss"]`, `outputs[0]`. */
  private judgePart(
    part: Expression & { kind: "Attribute" | "Subscript" },
    places: readonly Place[],
    depth: number,
  ): Judgement {
    if (part.kind === "Attribute" && part.attribute.id !== "loss")
      return this.judgeAttributeValues(part, places, depth);
    const call = this.callBehind(part.object);
    if (call === undefined) return unknown;
    if (this.resolver.functionOf(call) !== undefined) return unknown;
    const object = this.resolver.objectOf(call.callee);
    if (object?.role !== "model" || object.classDefinition !== undefined) return unknown;
    // Hugging Face models average over the batch (or its tokens) unless they are told how many items there are.
    if (
      keyword(call, "num_items_in_batch") !== undefined ||
      call.keywords.some(({ name }) => /reduc/.test(name.id))
    ) {
      return unknown;
    }
    if (part.kind === "Attribute") return object.certainty === "name" ? meanByName : mean;
    const ofTransformers = object.className?.startsWith("transformers.") === true;
    const first = part.index.kind === "Integer" && part.index.value === 0;
    const named = part.index.kind === "String" && part.index.value === "loss";
    return ofTransformers && (first || named) ? mean : unknown;
  }

  private judgeAttributeValues(part: Expression, places: readonly Place[], depth: number): Judgement {
    const key = this.resolver.keyOf(part);
    if (key === undefined || this.following.has(key)) return key === undefined ? unknown : neutral;
    const values = this.resolver.valuesOf(part);
    if (values.length === 0) return unknown;
    this.following.add(key);
    const judged = either(values.map((value) => this.judge(value, places, depth + 1)));
    this.following.delete(key);
    // `self.loss /= k` is no value of its own: attributes may be divided where we do not look.
    return judged.verdict === "mean" && attributeDivided(this.resolver, part) ? scaled : judged;
  }

  private callBehind(expression: Expression): Call | undefined {
    if (expression.kind === "Call") return expression;
    const values = this.resolver.valuesOf(expression).filter(({ kind }) => kind === "Call");
    const [only, other] = values;
    return only?.kind === "Call" && other === undefined ? only : undefined;
  }
}

/**
 * `for i in range(len(logits)): loss += criterion(logits[i], labels[i])`: a sum over samples, heads or steps in a loop that
 * does not run the backward. What a mean of that would be, only its author knows.
 */
function sumsInLoop({ kind, name, node, value }: Binding, places: readonly Place[]): boolean {
  const addsToItself =
    kind === "augmented" ||
    (kind === "assignment" &&
      value !== undefined &&
      someNode(value, (part) => part.kind === "Name" && part.id === name));
  const loop = addsToItself ? enclosingLoop(node) : undefined;
  return loop !== undefined && !places.some((place) => place.kind === "loop" && place.node === loop);
}

function elementAt(value: Expression | undefined, path: readonly number[]): Expression | undefined {
  let current = value;
  for (const index of path) {
    if (current?.kind !== "Tuple" && current?.kind !== "List") return undefined;
    current = current.elements[index];
  }
  return current;
}

function byReduction(call: Call): Judgement {
  const reduction = keyword(call, "reduction");
  const old = keyword(call, "size_average") ?? keyword(call, "reduce");
  if (old !== undefined || call.keywordSpreads.length > 0) return unknown;
  if (reduction === undefined) return mean;
  // `kl_div` divides by the batch where its mean is asked for by its right name.
  return reduction.kind === "String" && /^(batch)?mean$/.test(reduction.value ?? "") ? mean : unknown;
}

/** A factor that is a plain number is a weight; any other factor may be `1 / k`. */
function product({ left, right }: BinaryOperation, judgements: readonly Judgement[]): Judgement {
  if (judgements.some(({ verdict }) => verdict === "scaled")) return scaled;
  const weight = isNumber(left) ? left : isNumber(right) ? right : undefined;
  if (weight === undefined) return unknown;
  return judgements[weight === left ? 1 : 0] ?? unknown;
}

function isNumber(expression: Expression): boolean {
  return expression.kind === "Integer" || (expression.kind === "Float" && expression.value >= 1);
}

/** One term that nobody divides is enough, unless somebody divided another: then the script does its own arithmetic. */
function sum(judgements: readonly Judgement[]): Judgement {
  const counted = judgements.filter(({ verdict }) => verdict !== "neutral");
  if (counted.length === 0) return neutral;
  if (counted.some(({ verdict }) => verdict === "scaled")) return scaled;
  return counted.find(({ verdict }) => verdict === "mean") ?? unknown;
}

/** Several values one of which is used: all must be unscaled. */
function either(judgements: readonly Judgement[]): Judgement {
  const counted = judgements.filter(({ verdict }) => verdict !== "neutral");
  if (counted.length === 0) return judgements.length === 0 ? unknown : neutral;
  if (counted.some(({ verdict }) => verdict === "scaled")) return scaled;
  if (counted.some(({ verdict }) => verdict === "unknown")) return unknown;
  return counted.reduce((a, b) => ({ verdict: "mean", certainty: weaker(a.certainty, b.certainty) }), mean);
}

function dividesInside(expression: Expression): boolean {
  let divides = false;
  walk(expression, {
    enter(node) {
      if (node.kind === "BinaryOperation" && node.operator === "/") divides = true;
      return !divides && node.kind !== "Lambda";
    },
  });
  return divides;
}

function attributeDivided(resolver: Resolver, attribute: Expression): boolean {
  const name = lastNameOf(attribute);
  return resolver.index.assignments.some(
    (one) => one.kind === "AugmentedAssign" && one.operator === "/" && lastNameOf(one.target) === name,
  );
}
