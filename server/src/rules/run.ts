/**
 * Runs rules over a file: one walk over the tree, every rule's handlers called by node kind.
 */
import { message } from "../messages/message";
import type { MessageText } from "../messages/message";
import type { NodeKind, Node } from "../python/tree";
import { nodesOf } from "../python/walk";
import { push } from "../torch/resolve-index";
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
  const handlers = new Map<NodeKind, Turn[]>();
  const finishers: Turn[] = [];

  for (const rule of rules) {
    const state: RuleState = { name: rule.name, failures: result.failures, isBroken: false };
    const begin = (): void => {
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
        const turn: Turn = { state, handler: handler as Handler };
        if (kind === "finish") finishers.push(turn);
        else push(handlers, kind as NodeKind, turn);
      }
    };
    take({ state, handler: begin }, shared.module);
  }

  if (handlers.size > 0) {
    for (const node of nodesOf(shared.module)) {
      const interested = handlers.get(node.kind);
      if (interested !== undefined) for (const turn of interested) take(turn, node);
    }
  }
  for (const turn of finishers) take(turn, shared.module);
  return result;
}

/** A rule that has thrown in this file is not run on it again. */
interface RuleState {
  readonly name: string;
  readonly failures: RuleFailure[];
  isBroken: boolean;
}

/** What a rule does with the nodes of one kind, or at the end. */
interface Turn {
  readonly state: RuleState;
  readonly handler: Handler;
}

function take({ state, handler }: Turn, node: Node): void {
  if (state.isBroken) return;
  try {
    handler(node);
  } catch (error) {
    state.isBroken = true;
    state.failures.push({ rule: state.name, error });
  }
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
