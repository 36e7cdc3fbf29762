/**
 * Branches of data preparation that make no difference to sizes: `if random() < 0.5: image = hflip(image)`. Both arms are run
 * and what they bind is compared.
 */
import type { Expression, If, Statement } from "../../python/tree";
import { Tensor } from "../tensor";
import type { Unknown } from "../unknown";
import { effectsOf } from "./effects";
import type { Interpreter } from "./interpreter";
import { pictureOf } from "./library/images";
import type { Completion } from "./statements";
import type { Value } from "./values";

/**
 * Runs both arms and keeps what they leave alike; names that only one of them makes are not known. Where they leave a name
 * different from each other, or do more than to bind names, nothing is changed and the answer is no.
 */
export function isSameEitherWay(interpreter: Interpreter, node: If, reason: Unknown): boolean {
  if (!isData(interpreter)) return false;
  const names = [...new Set([...boundNames(node.body), ...boundNames(node.orelse)])];
  if (names.includes("")) return false;
  const { values, bind } = variables(interpreter, names);
  const before = values();
  const after = (arm: readonly Statement[]): readonly (Value | undefined)[] | undefined => {
    const completion = tried(interpreter, arm);
    const found = completion === undefined ? values() : undefined;
    bind(before);
    return found;
  };
  const [one, other] = [after(node.body), after(node.orelse)];
  if (one === undefined || other === undefined) return false;
  const isSame = names.every((_, i) => before[i] === undefined || isAlike(one[i], other[i]));
  if (isSame) bind(one.map((value, i) => (before[i] === undefined ? reason : betterKnown(value, other[i]))));
  return isSame;
}

/** Reading and writing names of the current frame together. */
function variables({ frame, references }: Interpreter, names: readonly string[]) {
  return {
    values: (): (Value | undefined)[] =>
      names.map((name) => {
        const value = frame.lookup(name);
        return value === undefined ? undefined : references.keep(value);
      }),
    bind: (given: readonly (Value | undefined)[]): void => {
      names.forEach((name, i) => {
        const value = given[i];
        if (value === undefined) frame.remove(references, name);
        else frame.assign(references, name, value);
      });
    },
  };
}

/** `if random() > p: return picture` before a last `return blurred(picture)`: what is returned, where it does not matter which. */
export function returnedEitherWay(interpreter: Interpreter, node: If): Completion {
  const last = lastAfter(node);
  const [first, second] = [node.body, node.orelse.length > 0 || last === undefined ? node.orelse : [last]];
  if (!isData(interpreter) || !onlyReturns(first) || !onlyReturns(second)) return undefined;
  const { values, bind } = variables(interpreter, [...new Set([...first, ...second].flatMap(namesBoundBy))]);
  const before = values();
  const run = (arm: readonly Statement[]): Value | undefined => {
    const completion = tried(interpreter, arm);
    bind(before);
    return completion !== undefined && "kind" in completion && completion.kind === "return"
      ? interpreter.references.own(completion.value)
      : undefined;
  };
  const [one, other] = [run(first), run(second)];
  if (one === undefined || !isAlike(one, other)) return undefined;
  const value = betterKnown(one, other) ?? one;
  interpreter.references.retain(value);
  return { kind: "return", value };
}

/** An arm that does nothing but to name values and to return one. */
function onlyReturns(arm: readonly Statement[]): boolean {
  return arm.at(-1)?.kind === "Return" && !boundNames(arm.slice(0, -1)).includes("");
}

/** Runs an arm that may not be the one: what it allocates on its way is no part of any peak. */
function tried(interpreter: Interpreter, arm: readonly Statement[]): Completion | Unknown {
  return interpreter.execution.unobserved(() => interpreter.guard(() => interpreter.execute(arm)));
}

/** The statement behind a node, if it is the last of its function. */
function lastAfter(node: If): Statement | undefined {
  const around = node.parent;
  if (around?.kind !== "FunctionDefinition") return undefined;
  return around.body.at(-2) === node ? around.body.at(-1) : undefined;
}

/** Batches of a training script are asked for, and no model runs. */
function isData({ sampler, training, execution }: Interpreter): boolean {
  return sampler !== undefined && (training?.forwards ?? 0) === 0 && execution.phase !== "backward";
}

/** The names that an arm of plain assignments binds; an empty one where it does anything else. */
function boundNames(arm: readonly Statement[]): string[] {
  if (effectsOf(arm).trains) return [""];
  return arm.flatMap((statement) => (statement.kind === "Assign" ? namesBoundBy(statement) : [""]));
}

function namesBoundBy(statement: Statement): string[] {
  return statement.kind === "Assign" ? statement.targets.flatMap(namesOf) : [];
}

function namesOf(target: Expression): string[] {
  if (target.kind === "Name") return [target.id];
  return target.kind === "Tuple" ? target.elements.flatMap(namesOf) : [""];
}

/** Of two values that are alike the one of which more is known. */
function betterKnown(one: Value | undefined, other: Value | undefined): Value | undefined {
  const picture = one === undefined ? undefined : pictureOf(one);
  return picture !== undefined && picture.channels === undefined ? other : one;
}

/** Whether two values are of the same size and type, so that it does not matter which of them it is. */
export function isAlike(one: Value | undefined, other: Value | undefined): boolean {
  if (one === other) return true;
  if (one instanceof Tensor && other instanceof Tensor) {
    const isPlain = !one.requiresGrad && !other.requiresGrad;
    return isPlain && one.dtype === other.dtype && one.shape.join() === other.shape.join();
  }
  if (one === undefined || other === undefined) return false;
  const [first, second] = [pictureOf(one), pictureOf(other)];
  if (first === undefined || second === undefined) return false;
  // Both become samples of the same batches: channels that one does not know are the other's.
  const { channels = second.channels } = first;
  return (
    channels === (second.channels ?? channels) &&
    first.height === second.height &&
    first.width === second.width
  );
}
