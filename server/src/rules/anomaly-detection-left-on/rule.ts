/** Autograd's anomaly detection turned on without a condition: a debugging mode that slows every step down. */
import { FileMemo } from "../../python/file-memo";
import type { Call, FunctionDefinition, If, Node, Statement, With } from "../../python/tree";
import {
  ancestors,
  enclosingFunction,
  enclosingLoop,
  enclosingStatement,
  statementList,
  walk,
} from "../../python/walk";
import { noGradContexts } from "../../torch/api";
import { trainingFlag } from "../../torch/provenance/mode-switches";
import { isTestFile } from "../../torch/provenance/try-out";
import { excerpt } from "../excerpt";
import { dedentStatements, deleteArgument, replaceSpan, takeStatement } from "../fix";
import { defineRule, type Report, type RuleContext, type TextEdit } from "../rule";

type MessageId = keyof typeof messages;
type Fixes = NonNullable<Report<MessageId>["fixes"]>;

const messages = {
  around: {
    en: "`{call}` turns anomaly detection on within this block: each operator in it records a Python traceback for its graph node, and each backward in it checks each gradient for NaN, which waits for the GPU each time. It is for finding a NaN, not for training; turn it on by a debugging option only, or take it out.",
    "zh-cn":
      "`{call}` 为这个代码块开启异常检测：其中的每个算子都要为其图节点记录 Python 调用栈，其中的每次反向传播都要检查每个梯度是否为 NaN，每次都要等待 GPU。它用于查找 NaN，不用于正式训练；请只通过调试选项开启，或将其删除。",
  },
  leftOn: {
    en: "`{call}` turns anomaly detection on for every step: each operator records a Python traceback for its graph node, and backward checks each gradient for NaN, which waits for the GPU each time. It is for finding a NaN, not for training; turn it on by a debugging option only, or take it out.",
    "zh-cn":
      "`{call}` 在每一步都开启异常检测：每个算子都要为其图节点记录 Python 调用栈，反向传播要检查每个梯度是否为 NaN，每次都要等待 GPU。它用于查找 NaN，不用于正式训练；请只通过调试选项开启，或将其删除。",
  },
  remove: { en: "Turn anomaly detection off", "zh-cn": "关闭异常检测" },
};

const switchCall = /^torch\.autograd\.(anomaly_mode\.)?set_detect_anomaly$/;
const contextCall = /^torch\.autograd\.(anomaly_mode\.)?detect_anomaly$/;
const debugging = /debug|nan|anomal|sanity|gradcheck|profil|(^|_)test/i;

export const rule = defineRule<MessageId>({
  name: "anomaly-detection-left-on",
  group: "allocator",
  level: "warning",
  summary: {
    en: "Autograd's anomaly detection is on in every run.",
    "zh-cn": "每次运行都开启了 autograd 的异常检测。",
  },
  messages,
  calls: ["detect_anomaly", "set_detect_anomaly", "Trainer"],
  create: (context) => ({
    Call(call) {
      const argument = call.keywords.find(({ name }) => name.id === "detect_anomaly");
      if (argument !== undefined) {
        if (argument.value.kind === "Boolean" && argument.value.value && isTrainer(context, call)) {
          reportUnlessConditional(context, call, excerpt(context.source, argument), () => [
            deleteArgument(context.source, call, argument),
          ]);
        }
        return;
      }
      const name = context.torch.resolve.qualifiedName(call.callee) ?? "";
      if (switchCall.test(name)) {
        const mode = call.positional[0] ?? call.keywords.find((given) => given.name.id === "mode")?.value;
        if (mode?.kind !== "Boolean" || !mode.value) return;
      } else if (!contextCall.test(name)) return;
      checkCall(context, call);
    },
  }),
});

function isTrainer({ torch }: RuleContext, call: Call): boolean {
  return /^lightning\.pytorch\.(\w+\.)*Trainer$/.test(torch.resolve.qualifiedName(call.callee) ?? "");
}

function checkCall(context: RuleContext<MessageId>, call: Call): void {
  const { source } = context;
  const statement = enclosingStatement(call);
  if (statement?.kind === "ExpressionStatement" && statement.expression === call) {
    const name = context.torch.resolve.qualifiedName(call.callee) ?? "";
    if (contextCall.test(name)) return; // as a bare statement it does nothing lasting
    reportUnlessConditional(context, call, excerpt(source, call), () => removedStatement(context, statement));
    return;
  }
  if (statement?.kind !== "With" || !statement.items.some((item) => item.context === call)) return;
  if (!coversTraining(statement)) return;
  reportUnlessConditional(
    context,
    call,
    excerpt(source, call),
    () => unwrapped(context, statement),
    "around",
  );
}

/** A snippet that runs one backward under the mode is a debugging aid: only what repeats is training. */
function coversTraining(statement: With): boolean {
  if (enclosingLoop(statement) !== undefined) return true;
  const owner = enclosingFunction(statement);
  let covers = false;
  for (const inner of statement.body) {
    walk(inner, {
      enter(node) {
        if (node.kind === "For" || node.kind === "While") covers = true;
        if (node.kind !== "Call" || node.callee.kind !== "Attribute") return;
        const method = node.callee.attribute.id;
        if (method === "fit" || (method === "train" && node.positional.length > 0)) covers = true;
        if (owner !== undefined && /^(backward|manual_backward)$/.test(method)) covers = true;
      },
    });
  }
  return covers;
}

function reportUnlessConditional(
  context: RuleContext<MessageId>,
  call: Call,
  text: string,
  edits: () => TextEdit[] | undefined,
  message: MessageId = "leftOn",
): void {
  if (isConditional(context, call) || isTurnedOff(context) || isTestFile(context.scopes)) return;
  if (onlyInfers(context)) return;
  const removal = edits();
  const fixes: Fixes = removal === undefined ? [] : [{ title: "remove", safety: "review", edits: removal }];
  context.report({ at: call, message, values: { call: text }, fixes });
}

/** Behind an `if`, in an `except`, in a function for debugging or one that is only called under a condition. */
function isConditional({ torch }: RuleContext, call: Call): boolean {
  const owner = conditionOrOwner(call);
  if (owner === "conditional") return true;
  if (owner === undefined) return false;
  if (debugging.test(owner.name.id)) return true;
  const callers = torch.resolve.callsTo(owner);
  return callers.length > 0 && callers.every((caller) => conditionOrOwner(caller) === "conditional");
}

/** The function around a node when it runs in each call of it; `undefined` for the module's own code. */
function conditionOrOwner(node: Node): "conditional" | FunctionDefinition | undefined {
  let below = node;
  for (const around of ancestors(node)) {
    switch (around.kind) {
      case "If":
        if (!isMainGuard(around) || !around.body.some((statement) => statement === below))
          return "conditional";
        break;
      case "Try":
        if (around.handlers.some(({ body }) => body.some((statement) => statement === below)))
          return "conditional";
        break;
      case "Conditional":
      case "BooleanOperation":
      case "Match":
      case "Lambda":
        return "conditional";
      default:
    }
    if (leavesBefore(below)) return "conditional";
    if (around.kind === "FunctionDefinition") return around;
    below = around;
  }
  return undefined;
}

/** `if not args.debug: return` before it in its block. */
function leavesBefore(node: Node): boolean {
  const place = statementList(node as Statement);
  if (place === undefined) return false;
  return place.list
    .slice(0, place.index)
    .some(
      (earlier) => earlier.kind === "If" && /^(Return|Continue|Break)$/.test(earlier.body.at(-1)?.kind ?? ""),
    );
}

function isMainGuard({ test }: If): boolean {
  if (test.kind !== "Comparison") return false;
  return test.operands.some((operand) => operand.kind === "Name" && operand.id === "__name__");
}

const knownTurnedOff = new FileMemo<boolean>();

/** The script turns it off again somewhere: it knows what it is doing. */
function isTurnedOff({ module, torch }: RuleContext): boolean {
  return knownTurnedOff.of(module, () =>
    torch.resolve.callsOf((name) => switchCall.test(name)).some((call) => turnsOff(call)),
  );
}

function turnsOff(call: Call): boolean {
  const [mode] = call.positional.length > 0 ? call.positional : call.keywords.map(({ value }) => value);
  return mode?.kind === "Boolean" && !mode.value;
}

const trainingCall = /train|fit|learn|backward|optim|step/i;
const knownToInfer = new FileMemo<boolean>();

/** The file runs its models with gradients off and calls nothing that trains: there are no graph nodes to trace. */
function onlyInfers({ module, torch }: RuleContext): boolean {
  return knownToInfer.of(module, () => {
    const { callsByName } = torch.resolve.index;
    const trains = [...callsByName].some(
      ([name, calls]) => trainingCall.test(name) && calls.some((call) => trainingFlag(call) !== false),
    );
    return !trains && torch.resolve.callsOf((name) => noGradContexts.has(name)).length > 0;
  });
}

function removedStatement({ source }: RuleContext, statement: Statement): TextEdit[] | undefined {
  const siblings = statementList(statement)?.list;
  const removal = siblings && takeStatement(source, statement, siblings)?.removal;
  return removal && [removal];
}

/** The block without its `with`. */
function unwrapped({ source, module }: RuleContext, statement: With): TextEdit[] | undefined {
  const [first] = statement.body;
  if (statement.items.length !== 1 || first === undefined) return undefined;
  const headLine = source.lineOf(statement.start);
  const bodyLine = source.lineOf(first.start);
  const edits = dedentStatements(source, module, statement.body);
  if (edits === undefined || bodyLine !== headLine + 1) return undefined;
  const head = { start: source.lineStart(headLine), end: source.lineStart(bodyLine) };
  return [replaceSpan(head, ""), ...edits];
}
