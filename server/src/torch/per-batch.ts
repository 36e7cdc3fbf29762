/**
 * Code that runs once a batch: straight in a loop over batches, in a helper that such a loop calls, or in a method that
 * a framework calls once a batch. For calls that belong behind a condition or at the end of a phase.
 */
import type {
  Call,
  Expression,
  For,
  FunctionDefinition,
  If,
  Node,
  Span,
  Statement,
  While,
} from "../python/tree";
import { ancestors, enclosingStatement, statementList, walk } from "../python/walk";
import type { FrameworkFacts } from "./frameworks";
import { frameworkHookAround } from "./frameworks/batch-hooks";
import { isTestFile } from "./provenance/try-out";
import type { Resolver } from "./resolve";
import type { TrainingLoops } from "./training-loop";

/** The facts that the answer rests on; `TorchFacts` has them all. */
export interface PerBatchFacts {
  readonly resolve: Resolver;
  readonly frameworks: FrameworkFacts;
  readonly trainingLoops: TrainingLoops;
}

export type PerBatchRun =
  | { readonly kind: "loop"; readonly loop: For | While }
  /** In a method that the framework calls once a batch. */
  | { readonly kind: "hook"; readonly hook: string }
  /** In a helper; `all` is false when some of its callers run it elsewhere. */
  | { readonly kind: "helper"; readonly callers: readonly BatchCaller[]; readonly all: boolean };

export interface BatchCaller {
  readonly caller: Call;
  readonly loop: For | While;
}

/**
 * How a call runs once a batch without a condition; `undefined` when it does not, or nobody can tell: behind an `if`
 * (other than one that asks for the GPU), in an `except`, after a model was let go, in warm-up and benchmark loops, in a
 * file of tests.
 */
export function perBatchRun(torch: PerBatchFacts, call: Call): PerBatchRun | undefined {
  if (isTestFile(torch.resolve.scopes)) return undefined;
  const place = placeOf(torch, call);
  if (place.kind === "loop") return place;
  if (place.kind !== "function") return undefined;
  const hook = frameworkHookAround(torch, place.target);
  if (hook !== undefined) return { kind: "hook", hook };
  return runOfHelper(torch, place.target);
}

function runOfHelper(torch: PerBatchFacts, target: FunctionDefinition): PerBatchRun | undefined {
  const { resolve } = torch;
  if (resolve.isUsedAsValue(target)) return undefined;
  const callers = resolve.sureCallsTo(target);
  const perBatch: BatchCaller[] = [];
  for (const caller of callers) {
    const place = placeOf(torch, caller);
    if (place.kind === "loop") perBatch.push({ caller, loop: place.loop });
  }
  if (perBatch.length === 0) return undefined;
  return { kind: "helper", callers: perBatch, all: perBatch.length === callers.length };
}

/** The line of a loop up to its colon. */
export function headOf(loop: For | While): Span {
  return { start: loop.start, end: loop.kind === "For" ? loop.iterable.end : loop.test.end };
}

type Place =
  | { readonly kind: "loop"; readonly loop: For | While }
  /** Unconditionally in a function, outside any loop of it. */
  | { readonly kind: "function"; readonly target: FunctionDefinition }
  | { readonly kind: "elsewhere" };

/** Where a call stands: directly in a loop over batches, directly in a function, or behind a condition. */
function placeOf(torch: PerBatchFacts, call: Call): Place {
  const statement = enclosingStatement(call);
  if (statement === undefined || (statement.kind !== "ExpressionStatement" && !holdsPlainly(statement))) {
    return { kind: "elsewhere" };
  }
  let below: Node = statement;
  if (isAfterRelease(torch, statement)) return { kind: "elsewhere" };
  for (const node of ancestors(statement)) {
    switch (node.kind) {
      case "If":
        if (!isAlwaysOnGpu(torch, node) || !node.body.includes(below)) return { kind: "elsewhere" };
        break;
      case "Try":
        if (node.handlers.some(({ body }) => body.includes(below as Statement))) return { kind: "elsewhere" };
        break;
      case "With":
        break;
      case "For":
      case "While":
        if (!node.body.includes(below)) return { kind: "elsewhere" };
        if (isAfterRelease(torch, below) || isEveryFew(node.body, below)) return { kind: "elsewhere" };
        return isPerBatch(torch, node) ? { kind: "loop", loop: node } : { kind: "elsewhere" };
      case "FunctionDefinition":
        if (isEveryFew(node.body, below)) return { kind: "elsewhere" };
        return { kind: "function", target: node };
      default:
        return { kind: "elsewhere" };
    }
    below = node;
  }
  return { kind: "elsewhere" };
}

/** `value = helper(x)`, `return helper(x)`: a statement that always runs the call it holds. */
function holdsPlainly(statement: Statement): boolean {
  return statement.kind === "Assign" || statement.kind === "AugmentedAssign" || statement.kind === "Return";
}

/** A condition that holds throughout a run on a GPU: `if torch.cuda.is_available():`, `if device.type == "cuda":`. */
function isAlwaysOnGpu(torch: PerBatchFacts, { test }: If): boolean {
  if (test.kind === "Call") {
    return /^torch\.(cuda|xpu|backends\.mps|mps|accelerator)\.is_available$/.test(
      torch.resolve.qualifiedName(test.callee) ?? "",
    );
  }
  if (test.kind === "Comparison" && test.operators[0] === "==") {
    const compared = test.operands[1];
    return compared?.kind === "String" && /^(cuda|xpu|mps)(:\d+)?$/.test(compared.value ?? "");
  }
  return /^(use_)?(cuda|gpu)(_available)?$/i.test(nameOf(test));
}

function nameOf(expression: Expression): string {
  if (expression.kind === "Name") return expression.id;
  return expression.kind === "Attribute" ? expression.attribute.id : "";
}

/** A model is let go before the call in the same block: now there is something to give back. */
function isAfterRelease(torch: PerBatchFacts, statement: Statement): boolean {
  const place = statementList(statement);
  if (place === undefined) return false;
  return place.list
    .slice(0, place.index)
    .some(
      (earlier) =>
        (earlier.kind === "Delete" &&
          earlier.targets.some((target) => isModel(torch.resolve.roleOf(target)))) ||
        movesModelAway(torch.resolve, earlier),
    );
}

function isModel(role: string | undefined): boolean {
  return role === "model" || role === "optimizer" || role === "engine";
}

/** `model.cpu()`, `model.to("cpu")`, `model = None`. */
function movesModelAway(resolve: Resolver, statement: Statement): boolean {
  if (statement.kind === "Assign") {
    return (
      statement.value.kind === "None" && statement.targets.some((target) => isModel(resolve.roleOf(target)))
    );
  }
  if (statement.kind !== "ExpressionStatement" || statement.expression.kind !== "Call") return false;
  const { callee, positional } = statement.expression;
  if (callee.kind !== "Attribute" || resolve.roleOf(callee.object) !== "model") return false;
  if (callee.attribute.id === "cpu") return true;
  const [device] = positional;
  return (
    callee.attribute.id === "to" &&
    device?.kind === "String" &&
    (device.value === "cpu" || device.value === "meta")
  );
}

/** `if step % n: continue` before the statement. */
function isEveryFew(body: readonly Statement[], below: Node): boolean {
  for (const statement of body) {
    if (statement === below) return false;
    if (statement.kind === "If" && statement.body.at(-1)?.kind === "Continue" && hasModulus(statement.test))
      return true;
  }
  return false;
}

function hasModulus(test: Expression): boolean {
  let found = false;
  walk(test, {
    enter(node) {
      if (node.kind === "BinaryOperation" && node.operator === "%") found = true;
    },
  });
  return found;
}

function isPerBatch(torch: PerBatchFacts, loop: For | While): boolean {
  if (!torch.trainingLoops.isBatchLoop(loop) || hasPhases(torch, loop)) return false;
  if (isWarmUp(torch.resolve.enclosingFunction(loop), loop) || endsAfterAFew(loop)) return false;
  return !measuresMemory(torch.resolve, loop);
}

/** An iteration with a training loop of its own (rollouts, then updates over them) is a phase and no batch. */
function hasPhases({ trainingLoops }: PerBatchFacts, loop: For | While): boolean {
  return trainingLoops.loops.some((inner) => {
    const own = inner.microLoop ?? inner.loop;
    return own !== loop && own.start > loop.start && own.end <= loop.end;
  });
}

/** Warm-up and benchmark loops are not what a run spends its time in. */
function isWarmUp(around: Node | undefined, loop: For | While): boolean {
  const header = loop.kind === "For" ? [loop.target, loop.iterable] : [loop.test];
  let found = around?.kind === "FunctionDefinition" && /warm_?up|bench|profil/i.test(around.name.id);
  for (const part of header) {
    walk(part, {
      enter(node) {
        if (node.kind === "Name" && /warm_?up|bench|profil/i.test(node.id)) found = true;
        if (node.kind === "Attribute" && /warm_?up|bench|profil/i.test(node.attribute.id)) found = true;
      },
    });
  }
  return found;
}

const fewRounds = 20;

/** `if i >= 10: break` in a loop over a whole loader: a look at the first few batches. */
function endsAfterAFew(loop: For | While): boolean {
  const counter = loop.kind === "For" ? firstTarget(loop.target) : undefined;
  if (counter === undefined) return false;
  return loop.body.some((statement) => {
    if (statement.kind !== "If" || statement.body.at(-1)?.kind !== "Break") return false;
    const { test } = statement;
    return (
      test.kind === "Comparison" &&
      /^(>|>=|==)$/.test(test.operators[0] ?? "") &&
      test.operands.some((operand) => operand.kind === "Name" && operand.id === counter) &&
      test.operands.some((operand) => operand.kind === "Integer" && operand.value <= fewRounds)
    );
  });
}

/** `i` of `for i in …` and of `for i, batch in …`. */
function firstTarget(target: Expression): string | undefined {
  const first = target.kind === "Tuple" ? target.elements[0] : target;
  return first?.kind === "Name" ? first.id : undefined;
}

/** A loop that takes memory figures of each round wants a clean cache. */
function measuresMemory(resolve: Resolver, loop: For | While): boolean {
  let measures = false;
  for (const statement of loop.body) {
    walk(statement, {
      enter(node) {
        if (node.kind !== "Call" || measures) return !measures;
        const name = resolve.qualifiedName(node.callee);
        measures =
          (name !== undefined && /\.(reset_peak_memory_stats|reset_max_memory_\w+)$/.test(name)) ||
          (node.callee.kind === "Attribute" &&
            node.callee.attribute.id === "append" &&
            node.positional.some(readsMemory));
        return;
      },
    });
  }
  return measures;
}

/** A figure that is kept for each round; one that is only printed may be there to find out where the memory goes. */
function readsMemory(value: Expression): boolean {
  let reads = false;
  walk(value, {
    enter(node) {
      if (node.kind === "Attribute" && /^(max_)?memory_(allocated|reserved)$/.test(node.attribute.id))
        reads = true;
    },
  });
  return reads;
}
