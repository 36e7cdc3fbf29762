/**
 * Which assignments may reach a read: reaching definitions over our statements, exact for structured code. Variables
 * are names bound in the running function (or module) and attributes spelled as dotted paths (`self.total`).
 *
 * A loop needs one extra pass that only looks at what it assigns: what may stand at its head is what came before joined
 * with what one run of its body leaves, and that is already the fixed point.
 */
import type { Expression, FunctionDefinition, If, Lambda, Module, Node, Statement } from "../../python/tree";
import { NodeTable } from "../../python/node-table";
import type { ScopeOwner } from "../../python/scope";
import { ancestors, forEachChild, isStatement } from "../../python/walk";
import { firstFrom, flattenTarget, push } from "../resolve-index";
import type { Resolver } from "../resolve";
import { Environment, union } from "./environment";

export interface Definition {
  /** The variable, as `Resolver.keyOf` names it. */
  readonly key: string;
  /** The name or attribute that is bound. */
  readonly target: Expression;
  /** The statement or expression that binds. */
  readonly node: Node;
  /** `augmented`: the variable keeps what it had and takes `value` in. `iterate`: an element of `value`. */
  readonly kind: "assign" | "augmented" | "iterate" | "with" | "other";
  readonly value: Expression | undefined;
  /** Where in `value`, for unpacked targets. */
  readonly path: readonly number[];
}

/** Stands for whatever a variable held when the function began. */
export const atEntry = Symbol("at entry");
export type Reaching = Definition | typeof atEntry;

export interface Flow {
  /** What may have bound the variable that a name or attribute reads; `undefined` where the read is no variable. */
  reaching(read: Expression): readonly Reaching[] | undefined;
  /** All definitions of a variable in the file. */
  definitionsOf(key: string): readonly Definition[];
  /** Reads of a variable in the file, in source order. */
  readsOf(key: string): readonly Expression[];
  /** What reached the target of an augmented assignment before it ran. */
  before(definition: Definition): readonly Reaching[];
}

type Body = Module | FunctionDefinition;

/** Bodies are followed when somebody first asks about them: most functions of a library never are. */
export function createFlow(resolver: Resolver): Flow {
  return new FileFlow(resolver);
}

interface LoopExits {
  readonly breaks: Environment[];
  readonly continues: Environment[];
}

/** Blocks nested deeper than this are left out; Python itself stops at 100. */
const deepestNesting = 150;
const justEntry: readonly Reaching[] = [atEntry];

class FileFlow implements Flow {
  private readonly reads: NodeTable<Expression, readonly Reaching[]>;
  private readonly readsByKey = new Map<string, Expression[]>();
  private readonly definitions = new Map<string, Definition[]>();
  private readonly byTarget = new Map<Expression, Definition>();
  private readonly earlier = new Map<Definition, readonly Reaching[]>();
  private loops: LoopExits[] = [];
  private recording = true;
  /** Of the expression that is being read. */
  private environment = Environment.empty(justEntry);
  private depth = 0;
  private readonly followed = new Set<Body>();
  private readonly followedOwners = new Set<ScopeOwner>();
  private readonly sortedLengths = new Map<readonly unknown[], number>();

  constructor(private readonly resolver: Resolver) {
    this.reads = new NodeTable(resolver.module);
  }

  reaching(read: Expression): readonly Reaching[] | undefined {
    // A default or decorator belongs to the function it stands at, a name inside a lambda to the body around it.
    for (let at: Node | undefined = read; at !== undefined; at = at.parent) {
      if (at.kind !== "FunctionDefinition" && at.kind !== "Module") continue;
      this.follow(at);
      const known = this.reads.get(read);
      if (known !== undefined) return known;
    }
    return undefined;
  }

  definitionsOf(key: string): readonly Definition[] {
    this.followHoldersOf(key);
    return this.inOrder(this.definitions.get(key), ({ target }) => target.start);
  }

  readsOf(key: string): readonly Expression[] {
    this.followHoldersOf(key);
    return this.inOrder(this.readsByKey.get(key), ({ start }) => start);
  }

  /** Bodies are followed in the order in which they are asked about, so what they give is sorted when it has grown. */
  private inOrder<Found>(found: Found[] | undefined, startOf: (one: Found) => number): readonly Found[] {
    if (found === undefined) return [];
    if (this.sortedLengths.get(found) !== found.length) {
      found.sort((a, b) => startOf(a) - startOf(b));
      this.sortedLengths.set(found, found.length);
    }
    return found;
  }

  /** A variable of a function or class is bound and read within it; only those of the module may be anywhere. */
  private followHoldersOf(key: string): void {
    const owner = this.resolver.scopeOfKey(key) ?? this.resolver.module;
    if (this.followedOwners.has(owner)) return;
    this.followedOwners.add(owner);
    this.follow(this.bodyAround(owner));
    for (const one of this.functionsWithin(owner)) this.follow(one);
  }

  private bodyAround(owner: ScopeOwner): Body {
    if (owner.kind === "FunctionDefinition" || owner.kind === "Module") return owner;
    for (const ancestor of ancestors(owner)) {
      if (ancestor.kind === "FunctionDefinition") return ancestor;
    }
    return this.resolver.module;
  }

  /** The functions of the file stand in source order. */
  private *functionsWithin(owner: Node): Generator<FunctionDefinition> {
    const { functions } = this.resolver.index;
    for (let index = firstFrom(functions, owner.start); index < functions.length; index++) {
      const one = functions[index];
      if (one === undefined || one.start >= owner.end) return;
      yield one;
    }
  }

  private follow(body: Body): void {
    if (this.followed.has(body)) return;
    this.followed.add(body);
    this.runBody(body);
  }

  before(definition: Definition): readonly Reaching[] {
    return this.earlier.get(definition) ?? justEntry;
  }

  private runBody(body: Body): void {
    this.loops = [];
    this.recording = true;
    if (body.kind === "FunctionDefinition") {
      for (const parameter of body.parameters)
        if (parameter.default) this.read(parameter.default, Environment.empty(justEntry));
      for (const decorator of body.decorators) this.read(decorator.expression, Environment.empty(justEntry));
    }
    this.block(body.body, Environment.empty(justEntry));
  }

  /** Runs statements; `undefined` when the end cannot be reached. */
  private block(statements: readonly Statement[], start: Environment | undefined): Environment | undefined {
    let environment = start;
    for (const statement of statements) {
      if (environment !== undefined) environment = this.statement(statement, environment);
      else if (!this.recording) return undefined;
      // Code behind a `return` never runs; it is read all the same so that every read has an answer.
      else this.statement(statement, Environment.empty(justEntry));
    }
    return environment;
  }

  private statement(statement: Statement, environment: Environment | undefined): Environment | undefined {
    if (environment === undefined || this.depth > deepestNesting) return environment;
    this.depth++;
    const after = this.run(statement, environment);
    this.depth--;
    return after;
  }

  private run(statement: Statement, environment: Environment): Environment | undefined {
    switch (statement.kind) {
      case "Assign":
        this.read(statement.value, environment);
        for (const target of statement.targets) {
          this.readTarget(target, environment);
          this.bind(target, statement.value, statement, "assign", environment);
        }
        return environment;
      case "AnnotatedAssign":
        if (statement.value) {
          this.read(statement.value, environment);
          this.bind(statement.target, statement.value, statement, "assign", environment);
        }
        return environment;
      case "AugmentedAssign":
        this.read(statement.value, environment);
        this.read(statement.target, environment);
        this.bind(statement.target, statement.value, statement, "augmented", environment);
        return environment;
      case "If":
        return this.branch(statement, environment);
      case "For":
        this.read(statement.iterable, environment);
        return this.loop(statement, environment);
      case "While":
        return this.loop(statement, environment);
      case "With":
        for (const item of statement.items) {
          this.read(item.context, environment);
          if (item.target) this.bind(item.target, item.context, statement, "with", environment);
        }
        return this.block(statement.body, environment);
      case "Try":
        return this.attempt(statement, environment);
      case "Match": {
        this.read(statement.subject, environment);
        let after: Environment | undefined = environment.copy();
        for (const one of statement.cases) {
          const inside = environment.copy();
          for (const capture of one.pattern.captures)
            this.bind(capture, undefined, statement, "other", inside);
          if (one.guard) this.read(one.guard, inside);
          after = join(after, this.block(one.body, inside));
        }
        return after;
      }
      case "Return":
        if (statement.value) this.read(statement.value, environment);
        return undefined;
      case "Raise":
        if (statement.exception) this.read(statement.exception, environment);
        return undefined;
      case "Break":
        this.loops.at(-1)?.breaks.push(environment.copy());
        return undefined;
      case "Continue":
        this.loops.at(-1)?.continues.push(environment.copy());
        return undefined;
      case "Delete":
        for (const target of statement.targets) {
          this.readTarget(target, environment);
          if (target.kind === "Name" || target.kind === "Attribute") {
            this.bind(target, undefined, statement, "other", environment);
          }
        }
        return environment;
      case "FunctionDefinition":
        this.bind(statement.name, undefined, statement, "other", environment);
        return environment;
      case "ClassDefinition":
        for (const base of statement.bases) this.read(base, environment);
        this.block(statement.body, environment.copy());
        return environment;
      default:
        forEachChild(statement, (child) => {
          if (!isStatement(child)) this.read(child, environment);
        });
        return environment;
    }
  }

  /** An `if` with all its `elif`s, without recursion: chains of them can be very long. */
  private branch(statement: If, environment: Environment): Environment | undefined {
    let after: Environment | undefined;
    for (let at = statement; ;) {
      this.read(at.test, environment);
      after = join(after, this.block(at.body, environment.copy()));
      const next: Statement | undefined = at.orelse[0];
      if (at.orelse.length !== 1 || next?.kind !== "If")
        return join(after, this.block(at.orelse, environment));
      at = next;
    }
  }

  private loop(
    loop: Extract<Statement, { kind: "For" | "While" }>,
    environment: Environment,
  ): Environment | undefined {
    const wasRecording = this.recording;
    this.recording = false;
    const once = this.loopBody(loop, environment.copy());
    this.recording = wasRecording;
    const head = join(environment, once.end) ?? environment;
    if (!wasRecording) return leave(head, once.exits, loop, (statements, at) => this.block(statements, at));
    const again = this.loopBody(loop, head.copy());
    return leave(join(head, again.end) ?? head, again.exits, loop, (statements, at) =>
      this.block(statements, at),
    );
  }

  private loopBody(
    loop: Extract<Statement, { kind: "For" | "While" }>,
    environment: Environment,
  ): { end: Environment | undefined; exits: LoopExits } {
    const exits: LoopExits = { breaks: [], continues: [] };
    this.loops.push(exits);
    if (loop.kind === "While") this.read(loop.test, environment);
    else this.bind(loop.target, loop.iterable, loop, "iterate", environment);
    let end = this.block(loop.body, environment);
    for (const one of exits.continues) end = join(end, one);
    this.loops.pop();
    return { end, exits };
  }

  private attempt(
    statement: Extract<Statement, { kind: "Try" }>,
    environment: Environment,
  ): Environment | undefined {
    let interrupted: Environment | undefined = environment.copy();
    let current: Environment | undefined = environment;
    for (const one of statement.body) {
      current = this.block([one], current);
      interrupted = join(interrupted, current?.copy());
    }
    let after = this.block(statement.orelse, current);
    for (const handler of statement.handlers) {
      const inside = interrupted?.copy() ?? Environment.empty(justEntry);
      if (handler.name) this.bind(handler.name, undefined, statement, "other", inside);
      after = join(after, this.block(handler.body, inside));
    }
    if (statement.finally.length === 0) return after;
    const last = this.block(statement.finally, join(after?.copy(), interrupted));
    return after === undefined ? undefined : last;
  }

  // --- Reads and binds --------------------------------------------------------------------------------------------

  private bind(
    target: Expression,
    value: Expression | undefined,
    node: Node,
    kind: Definition["kind"],
    environment: Environment,
  ): void {
    if (target.kind === "Name" || target.kind === "Attribute") {
      this.bindOne(target, value, [], node, kind, environment);
      return;
    }
    for (const flat of flattenTarget(target, value)) {
      if (flat.target.kind !== "Name" && flat.target.kind !== "Attribute") continue;
      this.bindOne(flat.target, flat.value, flat.path, node, kind, environment);
    }
  }

  private bindOne(
    target: Expression,
    value: Expression | undefined,
    path: readonly number[],
    node: Node,
    kind: Definition["kind"],
    environment: Environment,
  ): void {
    let definition = this.byTarget.get(target);
    if (definition === undefined) {
      const key = this.resolver.keyOf(target);
      if (key === undefined) return;
      definition = { key, target, node, kind, value, path };
      this.byTarget.set(target, definition);
      push(this.definitions, key, definition);
    }
    if (kind === "augmented" && this.recording) {
      this.earlier.set(definition, environment.get(definition.key));
    }
    environment.set(definition.key, [definition]);
  }

  /** The parts of a target that are read: `d` and `k` of `d[k] = …`, `a` of `a.b = …`. */
  private readTarget(target: Expression, environment: Environment): void {
    if (target.kind === "Name") return;
    if (target.kind === "Attribute") this.read(target.object, environment);
    else if (target.kind === "Tuple" || target.kind === "List") {
      for (const element of target.elements) this.readTarget(element, environment);
    } else this.read(target, environment);
  }

  private read(expression: Node, environment: Environment): void {
    if (!this.recording) return;
    const outer = this.environment;
    this.environment = environment;
    this.visitRead(expression);
    this.environment = outer;
  }

  private readonly visitRead = (node: Node): void => {
    const { environment } = this;
    if (node.kind === "Name" || node.kind === "Attribute") this.recordRead(node, environment);
    else if (node.kind === "Comprehension") this.bindComprehension(node, environment);
    else if (node.kind === "Lambda") this.skipParameters(node, environment);
    forEachChild(node, this.visitRead);
    if (node.kind === "NamedExpression") this.bind(node.target, node.value, node, "assign", environment);
  };

  private recordRead(read: Expression, environment: Environment): void {
    const key = this.resolver.keyOf(read);
    if (key === undefined) return;
    const now = environment.get(key);
    const before = this.reads.get(read);
    this.reads.set(read, before === undefined ? now : union(before, now));
    if (before === undefined) push(this.readsByKey, key, read);
  }

  private bindComprehension(
    node: Extract<Expression, { kind: "Comprehension" }>,
    environment: Environment,
  ): void {
    for (const clause of node.clauses)
      this.bind(clause.target, clause.iterable, node, "iterate", environment);
  }

  private skipParameters(node: Lambda, environment: Environment): void {
    for (const parameter of node.parameters) this.bind(parameter.name, undefined, node, "other", environment);
  }
}

function leave(
  end: Environment,
  exits: LoopExits,
  loop: Extract<Statement, { kind: "For" | "While" }>,
  run: (statements: readonly Statement[], at: Environment | undefined) => Environment | undefined,
): Environment | undefined {
  const endless = loop.kind === "While" && loop.test.kind === "Boolean" && loop.test.value;
  let after = run(loop.orelse, endless ? undefined : end);
  for (const one of exits.breaks) after = join(after, one);
  return after;
}

function join(left: Environment | undefined, right: Environment | undefined): Environment | undefined {
  if (left === undefined) return right;
  return right === undefined ? left : left.joined(right);
}
