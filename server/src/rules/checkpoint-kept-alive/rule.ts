/**
 * A checkpoint that was loaded onto the GPU is still held by its variable while training runs: its weights take their memory
 * beside the model they were copied into. (An optimizer takes its states over without a copy.)
 */
import type { Call, Expression, Name, Statement } from "../../python/tree";
import { enclosingFunction, enclosingStatement, statementList } from "../../python/walk";
import { gpuEvidence } from "../../torch/gpu";
import { followLoaded } from "../../torch/loaded";
import type { Resolver } from "../../torch/resolve";
import { insertLineAfter } from "../fix";
import { isLetGo, trainingBehind } from "../loaded-through-training";
import { leastCheckpointFor } from "../model-size";
import { defineRule, type Report, type RuleContext } from "../rule";

type MessageId = keyof typeof messages;

const messages = {
  kept: {
    en: "`{holder}` still holds the whole checkpoint while training runs: its weights lie on the GPU a second time{size, select, unknown {} other { ({size})}}, and nothing reads them any more. `del {holder}` before training, or load it with `map_location` on the CPU.",
    "zh-cn":
      "训练期间 `{holder}` 仍持有整个检查点：其中的权重在 GPU 上多占一份{size, select, unknown {} other {（{size}）}}，而此后再没有代码读取它们。请在训练之前 `del {holder}`，或用 `map_location` 把它加载到 CPU。",
  },
  training: { en: "Training runs here.", "zh-cn": "训练在这里运行。" },
  delete: { en: "Insert `del {holder}`", "zh-cn": "插入 `del {holder}`" },
};

export const rule = defineRule<MessageId>({
  name: "checkpoint-kept-alive",
  group: "loading",
  level: "information",
  summary: {
    en: "A checkpoint loaded onto the GPU is held all through training.",
    "zh-cn": "加载到 GPU 的检查点在整个训练期间都被持有。",
  },
  messages,
  create: (context) => ({
    finish() {
      const { resolve } = context.torch;
      for (const call of resolve.index.callsByName.get("load") ?? [])
        if (resolve.qualifiedName(call.callee) === "torch.load") check(context, call);
    },
  }),
});

function check(context: RuleContext<MessageId>, call: Call): void {
  const { torch } = context;
  const statement = enclosingStatement(call);
  if (statement?.kind !== "Assign" || statement.value !== call || statement.targets.length !== 1) return;
  const [holder] = statement.targets;
  if (holder?.kind !== "Name" || !isOnGpu(torch.resolve, call) || gpuEvidence(torch) === undefined) return;
  const loaded = followLoaded(torch.resolve, call);
  const [copy] = loaded.copies;
  if (copy === undefined) return;
  const training = trainingBehind(context.torch, statement);
  if (training === undefined) return;
  const reads = readsOf(torch.resolve, holder);
  if (
    isLetGo(torch.resolve, holder, statement) ||
    reads === undefined ||
    reads.some((read) => read.end > training.start)
  )
    return;
  context.report({
    at: call,
    message: "kept",
    values: { holder: holder.id, size: leastCheckpointFor(copy, context) },
    related: [{ at: headOf(training), message: "training" }],
    fixes: fixes(context, holder, statement, reads),
  });
}

/** `map_location` says a device that is not the CPU. Without it `load-without-map-location` speaks. */
function isOnGpu(resolve: Resolver, call: Call): boolean {
  const place = call.positional[1] ?? call.keywords.find(({ name }) => name.id === "map_location")?.value;
  if (place === undefined || call.keywords.some(({ name }) => name.id === "mmap")) return false;
  const sources = [place, ...resolve.valuesOf(place)];
  return sources.some((source) => namesGpu(source)) && !sources.some((source) => source.kind === "Lambda");
}

/** `"cuda"`, `torch.device("cuda" if … else "cpu")`, `f"cuda:{rank}"`. */
function namesGpu(source: Expression): boolean {
  const pending: Expression[] = [source];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    if (at.kind === "String") {
      const [first] = at.parts;
      if (/^cuda/.test(at.value ?? (typeof first === "string" ? first : ""))) return true;
    } else if (at.kind === "Conditional") pending.push(at.body, at.orelse);
    else if (at.kind === "Call") pending.push(...at.positional);
    else if (at.kind === "Dict") pending.push(...at.entries.map(({ value }) => value));
  }
  return false;
}

/** All reads of the variable; `undefined` when functions see it too. */
function readsOf(resolve: Resolver, holder: Name): readonly Name[] | undefined {
  const scope = resolve.scopes.lookup(holder)[0]?.scope;
  if (scope === undefined) return undefined;
  const reads = resolve.scopes.referencesTo(scope, holder.id);
  return reads.every((read) => enclosingFunction(read) === enclosingFunction(holder)) ? reads : undefined;
}

function headOf(statement: Statement): { readonly start: number; readonly end: number } {
  if (statement.kind === "For") return { start: statement.start, end: statement.iterable.end };
  if (statement.kind === "While" || statement.kind === "If")
    return { start: statement.start, end: statement.test.end };
  return statement;
}

/** Behind the last reading statement of the block that loads. */
function fixes(
  { source }: RuleContext<MessageId>,
  holder: Name,
  load: Statement,
  reads: readonly Name[],
): Report<MessageId>["fixes"] {
  const place = statementList(load);
  const rest = place?.list.slice(place.index) ?? [];
  const holds = (statement: Statement, read: Name): boolean =>
    statement.start <= read.start && read.end <= statement.end;
  if (!reads.every((read) => rest.some((statement) => holds(statement, read)))) return [];
  const last = rest.findLast((statement) => reads.some((read) => holds(statement, read)));
  const edit = last && insertLineAfter(source, last, `del ${holder.id}`);
  return edit ? [{ title: "delete", values: { holder: holder.id }, safety: "review", edits: [edit] }] : [];
}
