/**
 * The contract of a rule. A rule is a folder `rules/<name>/` with `rule.ts` (exporting `rule`), `doc.md` and
 * `doc.zh-cn.md`; `npm run generate` puts it into the registry.
 */
import type { Estimates } from "../memory/estimate";
import type { Message, MessageText, MessageValue } from "../messages/message";
import type { Source } from "../python/source";
import type { Scopes } from "../python/scope";
import type { Call, Module, NodeKind, NodeOfKind, Span } from "../python/tree";
import type { TorchFacts } from "../torch/facts";

export type Level = "error" | "warning" | "information" | "hint";

export type RuleGroup =
  | "graph"
  | "gradient-modes"
  | "accumulation"
  | "precision"
  | "checkpointing"
  | "allocator"
  | "loading"
  | "data"
  | "model"
  | "frameworks";

export interface TextEdit extends Span {
  readonly text: string;
}

/**
 * `safe` cannot change the result or break the run and is part of fix-all; `review` never is, and its title ends in
 * "(review)" / "（需复核）", which `rules/fix.ts` adds.
 */
export type FixSafety = "safe" | "review";

export interface Fix {
  readonly title: Message;
  readonly safety: FixSafety;
  /** Not overlapping, in any order. */
  readonly edits: readonly TextEdit[];
}

export interface RelatedLocation {
  readonly span: Span;
  readonly message: Message;
}

export interface Finding {
  readonly rule: string;
  readonly level: Level;
  readonly span: Span;
  readonly message: Message;
  readonly related: readonly RelatedLocation[];
  /** The first is the preferred one. */
  readonly fixes: readonly Fix[];
}

/** What a rule says about one place; `message` and the texts of `related` are keys of the rule's `messages`. */
export interface Report<MessageId extends string> {
  readonly at: Span;
  readonly message: MessageId;
  readonly values?: Readonly<Record<string, MessageValue>>;
  /** Only where it differs from the rule's own level, e.g. one lower when nothing but a name was evidence. */
  readonly level?: Level;
  readonly related?: readonly {
    readonly at: Span;
    readonly message: MessageId;
    readonly values?: Readonly<Record<string, MessageValue>>;
  }[];
  readonly fixes?: readonly {
    readonly title: MessageId;
    readonly values?: Readonly<Record<string, MessageValue>>;
    readonly safety: FixSafety;
    readonly edits: readonly TextEdit[];
  }[];
}

/** Everything a rule may ask; all of it computed once a file, on first use, and shared by all rules. */
export interface RuleContext<MessageId extends string = string> {
  readonly source: Source;
  readonly module: Module;
  readonly scopes: Scopes;
  readonly torch: TorchFacts;
  /** For the bytes in messages; evaluated on first use. */
  readonly estimates: Estimates;
  report(report: Report<MessageId>): void;
}

/** Handlers by node kind, called in source order (a node before its children); `finish` once after the walk. */
export type Visitor = {
  readonly [Kind in NodeKind]?: (node: NodeOfKind<Kind>) => void;
} & { readonly finish?: () => void };

/** What a rule does that looks at calls of certain names only. */
export interface CallVisitor {
  Call(call: Call): void;
  finish?(): void;
}

interface RuleOf<MessageId extends string> {
  readonly name: string;
  readonly group: RuleGroup;
  readonly level: Level;
  /** One line, shown in `vramlint rules`, the settings and the index of rules. */
  readonly summary: MessageText;
  readonly messages: Readonly<Record<MessageId, MessageText>>;
}

/** Sees whatever nodes it has handlers for. */
interface RuleOfNodes<MessageId extends string> extends RuleOf<MessageId> {
  readonly calls?: undefined;
  create(context: RuleContext<MessageId>): Visitor;
}

/** Begun only in files that have such a call. */
interface RuleOfCalls<MessageId extends string> extends RuleOf<MessageId> {
  /**
   * What the callees are called, the last part alone: `cat` for `torch.cat(…)`, for `cat(…)`, and for `join(…)` behind
   * `from torch import cat as join`. What the name stands for the rule finds out itself.
   */
  readonly calls: readonly string[];
  create(context: RuleContext<MessageId>): CallVisitor;
}

export type Rule<MessageId extends string = string> = RuleOfNodes<MessageId> | RuleOfCalls<MessageId>;

/** Keeps a rule's message keys checked: a report can only name a text that the rule has in both languages. */
export function defineRule<MessageId extends string>(rule: Rule<MessageId>): Rule {
  return rule;
}

const order: readonly Level[] = ["error", "warning", "information", "hint"];

/** The level one lower, for findings that rest on a name alone. */
export function oneLower(level: Level): Level {
  return order[Math.min(order.indexOf(level) + 1, order.length - 1)] ?? "hint";
}
