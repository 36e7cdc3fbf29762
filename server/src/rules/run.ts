/**
 * Runs rules over a file: handlers are called by the kind of a node, for calls by what is called.
 */
import { message } from "../messages/message";
import type { MessageText, MessageValue } from "../messages/message";
import type { Estimates } from "../memory/estimate";
import { lastName } from "../python/last-name";
import { neverRuns } from "../python/never-runs";
import type { Scopes } from "../python/scope";
import type { Source } from "../python/source";
import type { Module, NodeKind, Node } from "../python/tree";
import { nodesOf } from "../python/walk";
import type { TorchFacts } from "../torch/facts";
import { push } from "../torch/resolve-index";
import { titleOfFix } from "./fix";
import type { Finding, Fix, RelatedLocation, Report, Rule, RuleContext, Visitor } from "./rule";

/** What rules share, without the `report` that each gets for itself. */
export type SharedContext = Omit<RuleContext, "report">;

/** A rule that broke on this file; its findings up to there are kept, the others go on. */
export interface RuleFailure {
  readonly rule: string;
  readonly error: unknown;
}

export interface RunResult {
  readonly findings: Finding[];
  readonly failures: RuleFailure[];
}

/** Findings in the order in which the rules report them, at the rules' own levels. */
export function runRules(rules: readonly Rule[], shared: SharedContext): RunResult {
  const result: RunResult = { findings: [], failures: [] };
  const byKind = new Map<NodeKind, RuleRun[]>();
  const byName = new Map<string, RuleRun[]>();
  const runs = rules.map((rule) => new RuleRun(rule, shared, result));
  for (const run of runs) {
    if (run.rule.calls === undefined) for (const kind of run.kinds()) push(byKind, kind, run);
    else for (const name of run.rule.calls) push(byName, name, run);
  }
  if (byKind.size > 0) {
    const nodes = nodesOf(shared.module);
    // By place: code that is not compiled yet makes an object for each step of an iterator.
    for (let place = 0; place < nodes.length; place++) {
      const node = nodes[place] as Node;
      const interested = byKind.get(node.kind);
      if (interested !== undefined) for (const run of interested) run.visit(node);
    }
  }
  if (byName.size > 0) visitCalls(byName, shared);
  for (const run of runs) run.finish();
  return result;
}

/** Shows each call to the rules that look at calls of its name, or of what an import says that its name means. */
function visitCalls(byName: ReadonlyMap<string, readonly RuleRun[]>, shared: SharedContext): void {
  const { calls, callsByName, renamed } = shared.torch.resolve.index;
  const interested = new Map<string, readonly RuleRun[]>();
  const add = (name: string, runs: readonly RuleRun[] | undefined): void => {
    if (runs === undefined || !callsByName.has(name)) return;
    interested.set(name, [...new Set([...(interested.get(name) ?? []), ...runs])]);
  };
  for (const [name, runs] of byName) add(name, runs);
  for (const [name, originals] of renamed) for (const original of originals) add(name, byName.get(original));
  if (interested.size === 0) return;
  for (const call of calls) {
    const name = lastName(call.callee);
    const runs = name === undefined ? undefined : interested.get(name);
    if (runs !== undefined) for (const run of runs) run.visit(call);
  }
}

/** One rule on one file. What throws is noted and the rule not run on the file again. */
class RuleRun {
  private visitor: Visitor | undefined;
  private isBroken = false;

  constructor(
    readonly rule: Rule,
    private readonly shared: SharedContext,
    private readonly result: RunResult,
  ) {}

  /** The kinds of nodes that the rule wants to see. */
  kinds(): NodeKind[] {
    try {
      const handlers = Object.keys(this.begun()) as (keyof Visitor)[];
      return handlers.filter((kind) => kind !== "finish");
    } catch (error) {
      this.broke(error);
      return [];
    }
  }

  visit(node: Node): void {
    if (this.isBroken) return;
    try {
      (this.begun()[node.kind] as ((node: Node) => void) | undefined)?.(node);
    } catch (error) {
      this.broke(error);
    }
  }

  /** A rule that saw nothing of what it looks for has nothing to finish. */
  finish(): void {
    if (this.isBroken) return;
    try {
      this.visitor?.finish?.();
    } catch (error) {
      this.broke(error);
    }
  }

  private begun(): Visitor {
    if (this.visitor !== undefined) return this.visitor;
    const { rule, shared, result } = this;
    const report = (reported: Report<string>): void => {
      if (!neverRuns(reported.at, shared.module, shared.scopes))
        result.findings.push(findingOf(rule, reported));
    };
    this.visitor = rule.create(new ContextOfRule(shared, report));
    return this.visitor;
  }

  private broke(error: unknown): void {
    this.isBroken = true;
    this.result.failures.push({ rule: this.rule.name, error });
  }
}

/** The facts are computed when the first rule asks, once for all. */
class ContextOfRule implements RuleContext {
  readonly source: Source;
  readonly module: Module;

  constructor(
    private readonly shared: SharedContext,
    readonly report: (report: Report<string>) => void,
  ) {
    this.source = shared.source;
    this.module = shared.module;
  }

  get scopes(): Scopes {
    return this.shared.scopes;
  }

  get torch(): TorchFacts {
    return this.shared.torch;
  }

  get estimates(): Estimates {
    return this.shared.estimates;
  }
}

function findingOf(rule: Rule, report: Report<string>): Finding {
  return {
    rule: rule.name,
    level: report.level ?? rule.level,
    span: { start: report.at.start, end: report.at.end },
    message: message(textOf(rule, report.message), onOneLine(report.values)),
    related: (report.related ?? []).map(({ at, message: id, values }): RelatedLocation => ({
      span: { start: at.start, end: at.end },
      message: message(textOf(rule, id), onOneLine(values)),
    })),
    fixes: (report.fixes ?? []).map(({ title, values, safety, edits }): Fix => ({
      title: titleOfFix(message(textOf(rule, title), onOneLine(values)), safety),
      safety,
      edits,
    })),
  };
}

/** Source text in a message stays on its line, however it is laid out in the file. */
function onOneLine(values: Report<string>["values"]): Report<string>["values"] {
  if (values === undefined) return undefined;
  const entries = Object.entries(values).map(([name, value]): [string, MessageValue] => {
    if (typeof value === "number") return [name, value];
    if (typeof value === "string") return [name, value.replace(/\s+/g, " ")];
    return [name, message(value.text, onOneLine(value.values))];
  });
  return Object.fromEntries(entries);
}

function textOf(rule: Rule, id: string): MessageText {
  const text = rule.messages[id];
  if (text === undefined) throw new Error(`${rule.name} has no message ${id}`);
  return text;
}
