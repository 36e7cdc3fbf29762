/**
 * A checkpoint that was loaded onto the GPU is still held by its variable while training runs: its weights take their memory
 * beside the model they were copied into. (An optimizer takes its states over without a copy.)
 */
import type { Call, Expression, FunctionDefinition, Name, Statement } from "../../python/tree";
import { enclosingFunction, enclosingStatement, isWithin, statementList } from "../../python/walk";
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
        if (isLoad(resolve, call)) check(context, call, () => isOnGpu(resolve, placeGiven(call)));
      for (const [name, calls] of resolve.index.callsByName)
        if (loaderName.test(name))
          for (const call of calls) check(context, call, () => isLoadedOnGpu(resolve, call));
    },
  }),
});

/** What functions are called that give back what `torch.load` gave them. */
const loaderName = /load|restore|resume|checkpoint|ckpt/i;

function isLoad(resolve: Resolver, call: Call): boolean {
  return resolve.qualifiedName(call.callee) === "torch.load";
}

function check(context: RuleContext<MessageId>, call: Call, liesOnGpu: () => boolean): void {
  const { torch } = context;
  const statement = enclosingStatement(call);
  if (statement?.kind !== "Assign" || statement.value !== call || statement.targets.length !== 1) return;
  const [holder] = statement.targets;
  if (holder?.kind !== "Name") return;
  const loaded = followLoaded(torch.resolve, call);
  const [copy] = loaded.copies;
  if (copy === undefined) return;
  const training = trainingBehind(context.torch, statement);
  if (training === undefined || !liesOnGpu()) return;
  const reads = readsOf(torch.resolve, holder);
  if (
    isLetGo(torch.resolve, holder, statement) ||
    reads === undefined ||
    reads.some((read) => read.end > training.start) ||
    gpuEvidence(torch) === undefined
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

/** The `map_location` of a `torch.load` that reads its file; without one `load-without-map-location` speaks. */
function placeGiven({ positional, keywords }: Call): Expression | undefined {
  if (keywords.some(({ name }) => name.id === "mmap")) return undefined;
  return positional[1] ?? keywords.find(({ name }) => name.id === "map_location")?.value;
}

/** A device that is not the CPU. */
function isOnGpu(resolve: Resolver, place: Expression | undefined): boolean {
  if (place === undefined) return false;
  const sources = [place, ...resolve.valuesOf(place)];
  return sources.some((source) => namesGpu(source)) && !sources.some((source) => source.kind === "Lambda");
}

/** `load_checkpoint(path, device)` of this or another file, which gives back what it has loaded there. */
function isLoadedOnGpu(resolve: Resolver, call: Call): boolean {
  const own = resolve.functionOf(call);
  const elsewhere = own === undefined ? resolve.imported.functionOf(call) : undefined;
  const loader = own ?? elsewhere?.definition;
  if (loader === undefined) return false;
  const inside = elsewhere?.file.torch.resolve ?? resolve;
  const place = placeOfReturned(inside, loader);
  if (place === undefined) return false;
  const isParameter = place.kind === "Name" && loader.parameters.some(({ name }) => name.id === place.id);
  if (!isParameter) return isOnGpu(inside, place);
  return isOnGpu(resolve, resolve.argumentFor(call, loader, place.id));
}

/** Where a function that does nothing but load puts what it returns. */
function placeOfReturned(resolve: Resolver, loader: FunctionDefinition): Expression | undefined {
  const [returned, ...others] = resolve.returnedValues(loader);
  if (returned === undefined || others.length > 0) return undefined;
  const [loaded, ...more] = returned.kind === "Name" ? resolve.valuesOf(returned) : [returned];
  if (loaded?.kind !== "Call" || more.length > 0 || !isLoad(resolve, loaded)) return undefined;
  return placeGiven(loaded);
}

/** `"cuda"`, `torch.device("cuda" if … else "cpu")`, `f"cuda:{rank}"`, `"cuda:{}".format(rank)`. */
function namesGpu(source: Expression): boolean {
  const pending: Expression[] = [source];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    if (at.kind === "String") {
      const [first] = at.parts;
      if (/^cuda/.test(at.value ?? (typeof first === "string" ? first : ""))) return true;
    } else if (at.kind === "Conditional") pending.push(at.body, at.orelse);
    else if (at.kind === "Call") {
      pending.push(...at.positional);
      if (at.callee.kind === "Attribute" && at.callee.attribute.id === "format")
        pending.push(at.callee.object);
    } else if (at.kind === "Dict") pending.push(...at.entries.map(({ value }) => value));
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
  const holds = (statement: Statement, read: Name): boolean => isWithin(read, statement);
  if (!reads.every((read) => rest.some((statement) => holds(statement, read)))) return [];
  const last = rest.findLast((statement) => reads.some((read) => holds(statement, read)));
  const edit = last && insertLineAfter(source, last, `del ${holder.id}`);
  return edit ? [{ title: "delete", values: { holder: holder.id }, safety: "review", edits: [edit] }] : [];
}
