import type { Call, Expression, ExpressionStatement, Statement } from "../../python/tree";
import { statementList } from "../../python/walk";
import { autocastContexts, enableGradContext, noGradContexts } from "../../torch/api";
import { forwardReceiver } from "../../torch/provenance/shapes";
import { callsWithin } from "../../torch/resolve-index";
import { wrapInWith } from "../fix";
import { defineRule, type RuleContext, type TextEdit } from "../rule";

/** `torch.no_grad()` written as a statement: the context manager is made and thrown away. */
export const rule = defineRule({
  name: "no-grad-not-applied",
  group: "gradient-modes",
  level: "error",
  summary: {
    en: "`torch.no_grad()` (or `inference_mode()`, `autocast()`) stands as a bare statement and does nothing.",
    "zh-cn": "`torch.no_grad()`（或 `inference_mode()`、`autocast()`）作为单独的语句出现，不起任何作用。",
  },
  messages: {
    gradients: {
      en: "`{call}` alone does nothing: the context manager is made and thrown away, and gradients stay on for the lines below. Write `with {call}:` around them.",
      "zh-cn":
        "单独一行 `{call}` 不起任何作用：上下文管理器创建后立即被丢弃，下面的代码仍会记录梯度。请用 `with {call}:` 把它们包起来。",
    },
    autocast: {
      en: "`{call}` alone does nothing: the context manager is made and thrown away, and the lines below run without mixed precision. Write `with {call}:` around them.",
      "zh-cn":
        "单独一行 `{call}` 不起任何作用：上下文管理器创建后立即被丢弃，下面的代码不会使用混合精度。请用 `with {call}:` 把它们包起来。",
    },
    wrap: {
      en: "Put the following lines under `with {call}:`",
      "zh-cn": "把后面的代码放到 `with {call}:` 之下",
    },
  },
  create(context) {
    return {
      ExpressionStatement(statement) {
        const { expression } = statement;
        const callee = expression.kind === "Call" ? expression.callee : expression;
        const name = context.torch.resolve.qualifiedName(callee);
        if (name === undefined) return;
        const autocast = autocastContexts.has(name);
        if (!autocast && !noGradContexts.has(name) && name !== enableGradContext) return;
        const call = asCall(expression, context);
        const rest = restOfBlock(statement);
        if (!autocast && isDoneBelow(rest, context)) return;
        const edits = wrapping(statement, autocast ? beforeBackward(rest, context) : rest, call, context);
        context.report({
          at: expression,
          message: autocast ? "autocast" : "gradients",
          values: { call },
          fixes: edits ? [{ title: "wrap", values: { call }, safety: "review", edits }] : [],
        });
      },
    };
  },
});

/** The text to put behind `with`: `torch.no_grad` without brackets gets them. */
function asCall(expression: Expression | Call, context: RuleContext): string {
  const text = context.source.slice(expression);
  return expression.kind === "Call" ? text : `${text}()`;
}

function restOfBlock(statement: ExpressionStatement): readonly Statement[] {
  const place = statementList(statement);
  return place?.list.slice(place.index + 1) ?? [];
}

/** Every model below runs in a `with torch.no_grad():` of its own: the statement is left over, and harmless. */
function isDoneBelow(rest: readonly Statement[], { torch }: RuleContext): boolean {
  const { resolve, provenance } = torch;
  const forwards = rest
    .flatMap((statement) => [...callsWithin(resolve.index, statement)])
    .filter((call) => {
      const role = resolve.roleOf(forwardReceiver(call));
      return role === "model" || role === "engine";
    });
  return forwards.length > 0 && forwards.every((call) => provenance.modes.lexicallyAt(call) === "off");
}

/** Backward runs outside autocast: the statements up to the first that calls it. */
function beforeBackward(statements: readonly Statement[], { torch }: RuleContext): readonly Statement[] {
  const { backwards } = torch.provenance;
  const first = statements.findIndex(({ start, end }) =>
    backwards.some(({ call }) => call.start >= start && call.end <= end),
  );
  return first < 0 ? statements : statements.slice(0, first);
}

function wrapping(
  statement: ExpressionStatement,
  rest: readonly Statement[],
  call: string,
  context: RuleContext,
): TextEdit[] | undefined {
  const [next] = rest;
  if (next === undefined) return undefined;
  const { source, module } = context;
  const edits = wrapInWith(source, module, rest, call);
  const own = ownLines(statement, next, context);
  if (edits === undefined || own === undefined) return undefined;
  return [own, ...edits];
}

/** Removes the statement's line; a comment behind it keeps the line. */
function ownLines(statement: Statement, next: Statement, context: RuleContext): TextEdit | undefined {
  const { source } = context;
  const line = source.lineOf(statement.start);
  const lastLine = source.lineOf(statement.end);
  const start = source.lineStart(line);
  const after = source.text.slice(statement.end, source.lineStart(lastLine + 1));
  if (source.text.slice(start, statement.start).trim() !== "" || lastLine >= source.lineOf(next.start))
    return undefined;
  if (after.trim() === "") return { start, end: source.lineStart(lastLine + 1), text: "" };
  if (!after.trimStart().startsWith("#")) return undefined;
  const gap = after.length - after.trimStart().length;
  return { start: statement.start, end: statement.end + gap, text: "" };
}
