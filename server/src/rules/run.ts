/**
 * Runs rules over a file: one walk over the tree, every rule's handlers called by node kind.
 */
import { message } from "../messages/message";
import type { MessageText } from "../messages/message";
import type { NodeKind, Node } from "../python/tree";
import { walk } from "../python/walk";
import { titleOfFix } from "./fix";
import type { Finding, Fix, RelatedLocation, Report, Rule, RuleContext } from "./rule";

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

type Handler = (node: Node) => void;

/** Findings in the order in which the rules report them, at the rules' own levels. */
export function runRules(rules: readonly Rule[], shared: SharedContext): RunResult {
  const result: RunResult = { findings: [], failures: [] };
  const handlers = new Map<NodeKind, Handler[]>();
  const finishers: (() => void)[] = [];

  for (const rule of rules) {
    const contained = containment(rule, result.failures);
    contained(() => {
      const visitor = rule.create({
        source: shared.source,
        module: shared.module,
        // Getters, not copies: the facts are computed when the first rule asks, once for all.
        get scopes() {
          return shared.scopes;
        },
        get torch() {
          return shared.torch;
        },
        get estimates() {
          return shared.estimates;
        },
        report: (report) => result.findings.push(findingOf(rule, report)),
      });
      for (const [kind, handler] of Object.entries(visitor)) {
        if (kind === "finish") {
          finishers.push(() => contained(handler as () => void));
          continue;
        }
        const guarded: Handler = (node) => contained(() => (handler as Handler)(node));
        const others = handlers.get(kind as NodeKind);
        if (others) others.push(guarded);
        else handlers.set(kind as NodeKind, [guarded]);
      }
    });
  }

  if (handlers.size > 0) {
    walk(shared.module, {
      enter(node) {
        const interested = handlers.get(node.kind);
        if (interested) for (const handler of interested) handler(node);
      },
    });
  }
  for (const finish of finishers) finish();
  return result;
}

/** Runs a rule's code until it throws for the first time in this file; after that not at all. */
function containment(rule: Rule, failures: RuleFailure[]): (action: () => void) => void {
  let broken = false;
  return (action) => {
    if (broken) return;
    try {
      action();
    } catch (error) {
      broken = true;
      failures.push({ rule: rule.name, error });
    }
  };
}

function findingOf(rule: Rule, report: Report<string>): Finding {
  return {
    rule: rule.name,
    level: report.level ?? rule.level,
    span: { start: report.at.start, end: report.at.end },
    message: message(textOf(rule, report.message), report.values),
    related: (report.related ?? []).map(({ at, message: id, values }): RelatedLocation => ({
      span: { start: at.start, end: at.end },
      message: message(textOf(rule, id), values),
    })),
    fixes: (report.fixes ?? []).map(({ title, values, safety, edits }): Fix => ({
      title: titleOfFix(message(textOf(rule, title), values), safety),
      safety,
      edits,
    })),
  };
}

function textOf(rule: Rule, id: string): MessageText {
  const text = rule.messages[id];
  if (text === undefined) throw new Error(`${rule.name} has no message ${id}`);
  return text;
}
