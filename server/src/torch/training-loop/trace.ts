/**
 * Follows a function's statements in the order in which they run and notes what happens to gradients. Functions of
 * this file are followed into at their call, so that an event's path leads through helpers, methods and closures.
 */
import type {
  Call,
  Expression,
  FunctionDefinition,
  If,
  Lambda,
  Module,
  Node,
  Statement,
} from "../../python/tree";
import { forEachChild, walk } from "../../python/walk";
import type { CallPlace, Place, TraceEvent } from "./event";
import { classifyAttribute, classifyCall, classifyStatement, type Happening, type Tools } from "./classify";

export type Unit = Module | FunctionDefinition | Lambda;

/** Deeper nesting is not followed: no one writes it, and a generated file must not overflow the stack. */
const maximalDepth = 150;
/** A function with more events than this is cut off with an unknown-code event, which keeps rules quiet. */
const maximalEvents = 600;

export class Tracer {
  private readonly done = new Map<Unit, readonly TraceEvent[]>();
  private readonly open = new Set<Unit>();
  /** Functions whose code was followed into from somewhere. */
  readonly followed = new Set<Unit>();

  constructor(private readonly tools: Tools) {}

  /** The events of a function that a call leads into. */
  follow(unit: Unit): readonly TraceEvent[] {
    // A function that calls itself is still begun from outside.
    if (!this.open.has(unit)) this.followed.add(unit);
    return this.trace(unit);
  }

  /** The events of one run of the unit, in order, with places from its beginning. */
  trace(unit: Unit): readonly TraceEvent[] {
    const known = this.done.get(unit);
    if (known !== undefined) return known;
    // A recursive call adds nothing that the first round does not show.
    if (this.open.has(unit)) return [];
    this.open.add(unit);
    const events = new UnitTrace(this.tools, this).run(unit);
    this.open.delete(unit);
    this.done.set(unit, events);
    return events;
  }
}

class UnitTrace {
  private readonly events: TraceEvent[] = [];
  private depth = 0;
  private full = false;

  constructor(
    private readonly tools: Tools,
    private readonly tracer: Tracer,
  ) {}

  run(unit: Unit): readonly TraceEvent[] {
    if (unit.kind === "Lambda") {
      // A lambda has no statement of its own: its expression is followed as if it stood where the lambda stands.
      const statement = statementAround(unit);
      if (statement !== undefined) this.expression(unit.body, statement, []);
    } else {
      this.block(unit.body, []);
    }
    return this.events;
  }

  private block(statements: readonly Statement[], outer: readonly Place[]): void {
    if (this.depth >= maximalDepth) return;
    this.depth++;
    let places = outer;
    for (const statement of statements) {
      if (this.full) break;
      this.statement(statement, places);
      if (statement.kind === "If") places = placesBehind(statement, places);
    }
    this.depth--;
  }

  private statement(statement: Statement, places: readonly Place[]): void {
    switch (statement.kind) {
      case "FunctionDefinition":
      case "ClassDefinition":
        return;
      case "If":
        this.expression(statement.test, statement, places);
        this.block(statement.body, [...places, branch(statement, true)]);
        this.block(statement.orelse, [...places, branch(statement, false)]);
        return;
      case "For":
        this.expression(statement.iterable, statement, places);
        this.block(statement.body, [...places, { kind: "loop", node: statement }]);
        this.block(statement.orelse, places);
        return;
      case "While":
        this.expression(statement.test, statement, places);
        this.block(statement.body, [...places, { kind: "loop", node: statement }]);
        this.block(statement.orelse, places);
        return;
      case "With":
        for (const item of statement.items) this.expression(item.context, statement, places);
        this.block(statement.body, [...places, { kind: "with", node: statement }]);
        return;
      case "Try":
        this.block(statement.body, places);
        for (const handler of statement.handlers) {
          this.block(handler.body, [...places, { kind: "handler", node: statement }]);
        }
        this.block(statement.orelse, places);
        this.block(statement.finally, places);
        return;
      case "Match":
        this.expression(statement.subject, statement, places);
        for (const matchCase of statement.cases) {
          this.block(matchCase.body, [
            ...places,
            { kind: "branch", node: statement, test: undefined, taken: true, behind: false },
          ]);
        }
        return;
      default:
        forEachChild(statement, (child) => this.expression(child, statement, places));
        for (const found of classifyStatement(statement)) this.add(found, statement, places);
    }
  }

  /** Everything in an expression that runs when it is evaluated, innermost first. */
  private expression(expression: Node, statement: Statement, places: readonly Place[]): void {
    walk(expression, {
      enter: (node) => node.kind !== "Lambda" && node.kind !== "FunctionDefinition" && !this.full,
      leave: (node) => {
        if (node.kind === "Call") this.call(node, statement, places);
        else if (node.kind === "Attribute" && node.attribute.id === "grad") {
          const found = classifyAttribute(this.tools, node);
          if (found !== undefined) this.add(found, statement, places);
        }
      },
    });
  }

  private call(call: Call, statement: Statement, places: readonly Place[]): void {
    const target = this.targetOf(call);
    if (target !== undefined) this.follow(call, target, places);
    const found = classifyCall(this.tools, call);
    if (found.some(({ kind }) => kind === "optimizer-step")) {
      const closure = this.closureOf(call);
      if (closure !== undefined) this.follow(call, closure, places);
    }
    for (const one of found) {
      // The body was followed: it shows what the call does better than the name of the call.
      if (target !== undefined && (one.kind === "unknown-code" || one.kind === "backward")) continue;
      this.add(one, statement, places);
    }
  }

  private targetOf(call: Call): FunctionDefinition | Lambda | undefined {
    const target = this.tools.resolver.functionOf(call);
    if (target !== undefined || call.callee.kind !== "Name") return target;
    return this.functionNamed(call.callee);
  }

  /** The function or lambda that `optimizer.step(closure)` calls. */
  private closureOf(call: Call): FunctionDefinition | Lambda | undefined {
    const last = call.keywords.find(({ name }) => name.id === "closure")?.value ?? call.positional.at(-1);
    if (last === undefined) return undefined;
    return last.kind === "Lambda" ? last : this.functionNamed(last);
  }

  private functionNamed(expression: Expression): FunctionDefinition | Lambda | undefined {
    if (expression.kind !== "Name") return undefined;
    const bindings = this.tools.resolver.scopes.lookup(expression);
    const [binding] = bindings;
    if (bindings.length !== 1 || binding === undefined) return undefined;
    if (binding.node.kind === "FunctionDefinition" && binding.kind === "function") return binding.node;
    return binding.value?.kind === "Lambda" && binding.path.length === 0 ? binding.value : undefined;
  }

  private follow(call: Call, target: FunctionDefinition | Lambda, places: readonly Place[]): void {
    const inner = this.tracer.follow(target);
    if (inner.length === 0) return;
    const place: CallPlace = { kind: "call", call, target };
    const prefix = [...places, place];
    for (const event of inner) this.push({ ...event, places: [...prefix, ...event.places] });
  }

  private add(found: Happening, statement: Statement, places: readonly Place[]): void {
    this.push({ ...found, statement, places });
  }

  private push(event: TraceEvent): void {
    if (this.full) return;
    this.events.push(event);
    if (this.events.length < maximalEvents) return;
    this.full = true;
    this.events.push({ ...event, kind: "unknown-code", of: "everything", places: [] });
  }
}

function branch(statement: If, taken: boolean, behind = false): Place {
  return { kind: "branch", node: statement, test: statement.test, taken, behind };
}

/** What holds for the statements behind an `if` one of whose arms always leaves the block. */
function placesBehind(statement: If, places: readonly Place[]): readonly Place[] {
  if (leaves(statement.body)) return [...places, branch(statement, false, true)];
  if (leaves(statement.orelse)) return [...places, branch(statement, true, true)];
  return places;
}

/** True when a block cannot be left at its end: it ends in `continue`, `break`, `return` or `raise`. */
export function leaves(block: readonly Statement[]): boolean {
  let current = block;
  for (;;) {
    const last = current.at(-1);
    if (last === undefined) return false;
    if (last.kind === "With") current = last.body;
    else if (last.kind === "If") {
      if (last.orelse.length === 0 || !leavesSimply(last.body)) return false;
      current = last.orelse;
    } else return leavesSimply(current);
  }
}

function leavesSimply(block: readonly Statement[]): boolean {
  const last = block.at(-1);
  return (
    last !== undefined &&
    (last.kind === "Continue" || last.kind === "Break" || last.kind === "Return" || last.kind === "Raise")
  );
}

function statementAround(node: Node): Statement | undefined {
  for (let current = node.parent; current !== undefined; current = current.parent) {
    if (current.parent === undefined) return undefined;
    if (isPlainStatement(current)) return current;
  }
  return undefined;
}

function isPlainStatement(node: Node): node is Statement {
  switch (node.kind) {
    case "ExpressionStatement":
    case "Assign":
    case "AnnotatedAssign":
    case "AugmentedAssign":
    case "Return":
    case "If":
    case "For":
    case "While":
    case "With":
    case "FunctionDefinition":
      return true;
    default:
      return false;
  }
}
