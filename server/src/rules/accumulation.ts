/**
 * What the rules on gradient accumulation share: which events run with every micro-batch although the step waits, and
 * moving a statement behind the step it belongs to.
 */
import { foldInteger } from "../python/constant";
import type { Source } from "../python/source";
import type { Expression, Node, Statement } from "../python/tree";
import { statementList, walk } from "../python/walk";
import type { Accumulation, LoopNode, Place, TraceEvent, TrainingLoop } from "../torch/training-loop";
import { insertLineAfter, takeStatement } from "./fix";
import type { RuleContext, TextEdit } from "./rule";

/**
 * What is found in every beginning from which a loop is reached, once a node: a helper that one caller uses rightly is
 * not reported.
 */
export function foundFromEveryBeginning<Found>(
  { torch }: RuleContext,
  find: (loop: TrainingLoop) => readonly Found[],
  nodeOf: (found: Found) => Node,
): Found[] {
  const results = new Map<Node, Found>();
  for (const beginnings of torch.trainingLoops.byLoop.values()) {
    const perBeginning = beginnings.map((loop) => find(loop));
    for (const found of perBeginning[0] ?? []) {
      const node = nodeOf(found);
      const everywhere = perBeginning.every((others) => others.some((other) => nodeOf(other) === node));
      if (everywhere && !results.has(node)) results.set(node, found);
    }
  }
  return [...results.values()];
}

/** True when the step comes every few micro-batches, as far as the number can be seen: `class CFG: steps = 1` does not. */
export function accumulatesSeveral({ torch }: RuleContext, { steps }: Pick<Accumulation, "steps">): boolean {
  const count = steps && foldInteger(steps, torch.resolve.scopes);
  return count === undefined || count > 1;
}

/**
 * True when nothing stands between the loop and the event that does not stand before a backward too. `isNoCondition`
 * names further places that do not keep the event from running.
 */
export function runsWithEachBackward(
  event: TraceEvent,
  loop: TrainingLoop,
  isNoCondition: (place: Place) => boolean = () => false,
): boolean {
  if (isInGuard(event, loop)) return false;
  return loop.backwards.some(({ places }) =>
    event.places.every(
      (place) =>
        (place.kind !== "branch" && place.kind !== "handler") ||
        places.includes(place) ||
        isNoCondition(place),
    ),
  );
}

/** In the arm that steps. Each arm may have a backward: `if last: backward, step; else: with no_sync(): backward`. */
function isInGuard({ places }: TraceEvent, { accumulation }: TrainingLoop): boolean {
  const guard = accumulation?.branch;
  return places.some(
    (place) => place.kind === "branch" && place.node === guard?.node && place.taken === guard.taken,
  );
}

/** True when the event runs once a micro-batch and the steps it belongs to do not. */
export function runsOutsideUpdate(context: RuleContext, event: TraceEvent, loop: TrainingLoop): boolean {
  const { accumulation, microLoop } = loop;
  if (accumulation === undefined || !accumulatesSeveral(context, accumulation)) return false;
  const together = loop.steps.filter((step) => canRunTogether(step, event));
  if (!together.every((step) => accumulation.guardedSteps.includes(step))) return false;
  const isSetting = (place: Place): boolean => isSettingOf(context, place, loop.loop);
  if (accumulation.branch !== undefined) {
    // Steps inside the loop over micro-batches and a guard around that loop: not the shape we know.
    const stepsInInnerLoop = accumulation.guardedSteps.some(({ places }) => isInLoop(places, microLoop));
    return !stepsInInnerLoop && runsWithEachBackward(event, loop, isSetting);
  }
  if (accumulation.form !== "micro-loop" || loop.steps.some(({ places }) => isInLoop(places, microLoop))) {
    return false;
  }
  return isInLoop(event.places, microLoop) && runsWithEachBackward(event, loop, isSetting);
}

/** False for events in two arms of one `if`: `if k > 1: … else: …` with an update of its own in each. */
export function canRunTogether(a: TraceEvent, b: TraceEvent): boolean {
  return !a.places.some(
    (one) =>
      one.kind === "branch" &&
      b.places.some(
        (other) => other.kind === "branch" && other.node === one.node && other.taken !== one.taken,
      ),
  );
}

/** A condition that is the same in each iteration: `if args.clip:`, `if scheduler is not None:`. */
function isSettingOf({ torch }: RuleContext, place: Place, loop: LoopNode): boolean {
  if (place.kind !== "branch" || place.test === undefined) return false;
  const { resolve } = torch;
  const isWithinLoop = ({ start, end }: Node): boolean => start >= loop.start && end <= loop.end;
  let isSetting = true;
  walk(place.test, {
    enter(node) {
      switch (node.kind) {
        case "Attribute":
          isSetting &&= resolve.index.attributeStores.every(
            ({ target, statement }) =>
              target.kind !== "Attribute" ||
              target.attribute.id !== node.attribute.id ||
              isInConstructor(resolve, statement),
          );
          break;
        case "Name": {
          const bindings = resolve.scopes.lookup(node);
          // A parameter of a helper below the loop is given anew each time.
          isSetting &&= bindings.every(
            (binding) => !isWithinLoop(binding.node) && contains(binding.scope.owner, loop),
          );
          break;
        }
        case "UnaryOperation":
        case "BooleanOperation":
        case "Comparison":
        case "None":
        case "Boolean":
        case "Integer":
        case "Float":
        case "String":
          break;
        default:
          isSetting = false;
      }
      return isSetting;
    },
  });
  return isSetting;
}

function isInConstructor(resolve: RuleContext["torch"]["resolve"], statement: Node): boolean {
  const around = resolve.enclosingFunction(statement);
  return around?.kind === "FunctionDefinition" && around.name.id === "__init__";
}

function contains(around: Node, { start, end }: Node): boolean {
  return around.kind === "Module" || (around.start <= start && around.end >= end);
}

function isInLoop(places: readonly Place[], loop: Node | undefined): boolean {
  return loop !== undefined && places.some((place) => place.kind === "loop" && place.node === loop);
}

/** `optimizer.step()` as written; the callee alone where that is long. */
export function stepText({ source }: RuleContext, { node }: TraceEvent): string {
  const text = source.slice(node);
  return node.kind === "Call" && (text.length > 60 || /[\r\n]/.test(text))
    ? `${source.slice(node.callee)}(…)`
    : text;
}

/** The accumulation steps as written; `k` where the guard does not show them. */
export function stepsText({ source }: RuleContext, steps: Expression | undefined): string {
  return steps === undefined ? "k" : source.slice(steps);
}

/** The first line of a text. */
export function firstLine(text: string): string {
  return text.split(/[\r\n]/)[0] ?? "";
}

/** The step, or the `scaler.update()` right behind it. */
export function lastOfUpdate(loop: TrainingLoop, step: TraceEvent): Statement {
  const list = statementList(step.statement)?.list ?? [];
  const next = list[list.indexOf(step.statement) + 1];
  const isUpdate = loop.events.some(({ kind, statement }) => kind === "scaler-update" && statement === next);
  return isUpdate && next !== undefined ? next : step.statement;
}

/** Edits that move a statement of its own behind the step; `undefined` where either is laid out unusually. */
export function moveBehindStep(
  { source, torch }: RuleContext,
  event: TraceEvent,
  loop: TrainingLoop,
  step: TraceEvent,
): TextEdit[] | undefined {
  const { resolve } = torch;
  if (resolve.enclosingFunction(step.statement) !== resolve.enclosingFunction(event.statement))
    return undefined;
  const target = lastOfUpdate(loop, step);
  const taken = takeOut(source, event, step, target);
  if (taken === undefined) return undefined;
  const addition = insertLineAfter(source, target, taken.text);
  return addition === undefined ? undefined : [taken.removal, addition];
}

/**
 * A statement of its own, to be put beside `target`, with a condition that is its alone (`if scheduler is not None:`);
 * `undefined` where it stands under more than that.
 */
export function takeOut(
  source: Source,
  event: TraceEvent,
  step: TraceEvent,
  target: Statement,
): { readonly text: string; readonly removal: TextEdit } | undefined {
  const { statement, node } = event;
  if (statement.kind !== "ExpressionStatement" || statement.expression !== node) return undefined;
  const moved = withItsCondition(event, step);
  const siblings = moved === undefined ? undefined : statementList(moved)?.list;
  if (moved === undefined || siblings === undefined) return undefined;
  const taken = takeStatement(source, moved, siblings);
  if (taken === undefined || moved === statement) return taken;
  const text = reindented(taken.text, source.indentationAt(moved.start), source.indentationAt(target.start));
  return text === undefined ? undefined : { ...taken, text };
}

/** The statement, or the `if` around it that the step does not stand under and that holds nothing else. */
function withItsCondition({ statement, places }: TraceEvent, step: TraceEvent): Statement | undefined {
  const own = places.filter(
    (place) => (place.kind === "branch" || place.kind === "handler") && !step.places.includes(place),
  );
  const [condition, another] = own;
  if (condition === undefined) return statement;
  if (another !== undefined || condition.kind !== "branch") return undefined;
  const { node } = condition;
  if (node.kind !== "If") return undefined;
  return node.orelse.length === 0 && node.body.length === 1 && node.body[0] === statement ? node : undefined;
}

/** The lines below the first with another indentation. */
function reindented(text: string, before: string, after: string): string | undefined {
  const [first = "", ...below] = text.split("\n");
  if (!below.every((line) => line.trim() === "" || line.startsWith(before))) return undefined;
  return [
    first,
    ...below.map((line) => (line.trim() === "" ? line : after + line.slice(before.length))),
  ].join("\n");
}
