/** What is trained, on what, with what: the sections that the script and its header fill. */
import { effectiveBatch, optimizerName } from "../../directives/budget";
import { allocatorSlack, cudaContext } from "../../memory/device-usage";
import type { Checkpointed, InputSpecification, Setting } from "../../memory/setup";
import { formatBytes } from "../../memory/units";
import { modelTexts } from "../../messages/editor";
import type { MessageText } from "../../messages/message";
import { planEntries as entries, planMarks } from "../../messages/training-plan";
import type { Module, Span } from "../../python/tree";
import { message } from "../../messages/message";
import type { PlanFacts, PlanWriter } from "./writer";

type Row = readonly [entry: MessageText, value: string, source: string];

export function taskSection({ parsed, analysis }: PlanFacts, writer: PlanWriter): string[] {
  const { datasets, splits, seeds } = analysis.data;
  const task = taskOf(parsed.module);
  const row = (entry: MessageText, span: Span, value = writer.excerpt(span)): Row => [
    entry,
    value,
    writer.origin("script", span),
  ];
  const open = (entry: MessageText): Row => [entry, writer.fill, ""];
  const orOpen = (entry: MessageText, rows: readonly Row[]): readonly Row[] =>
    rows.length === 0 ? [open(entry)] : rows;
  const used = (use: "training" | "other"): Span[] =>
    datasets.filter((dataset) => dataset.use === use).map(({ dataset }) => dataset);
  const seedRows = seeds.map(({ call, value }) =>
    row(entries.seed, call, value === undefined ? writer.text(entries.seedUnknown) : String(value)),
  );
  return [
    writer.entries([
      task === undefined
        ? open(entries.task)
        : [entries.task, writer.inline(task.text), writer.origin("docstring", task.span)],
      ...orOpen(
        entries.trainingData,
        used("training").map((span) => row(entries.trainingData, span)),
      ),
      ...used("other").map((span) => row(entries.otherData, span)),
      ...orOpen(
        entries.split,
        splits.map((call) => row(entries.split, call)),
      ),
      ...orOpen(entries.seed, seedRows),
    ]),
  ];
}

/** The first paragraph of the docstring. */
function taskOf({ body: [first] }: Module): { readonly text: string; readonly span: Span } | undefined {
  if (first?.kind !== "ExpressionStatement" || first.expression.kind !== "String") return undefined;
  const text = first.expression.value?.trim().split(/\n[ \t]*\n/, 1)[0] ?? "";
  return text === "" ? undefined : { text, span: first };
}

export function modelSection(facts: PlanFacts, writer: PlanWriter): string[] {
  const { analysis, model } = facts;
  const { setup } = analysis;
  const rows: Row[] = [modelRow(facts, writer)];
  if (model !== undefined && model.notBuilt !== true) {
    const { count, trainable } = model.parameters;
    const text = count === trainable ? modelTexts.allTrainable : modelTexts.parameterCount;
    const figures = writer.text(text, { count, trainable });
    const value = model.complete ? figures : writer.text(modelTexts.atLeast, { size: figures });
    rows.push([entries.parameters, value, writer.origin("computed")]);
  }
  const given = <Value>(
    entry: MessageText,
    setting: Setting<Value> | undefined,
    write: (value: Value) => string,
  ): Row | undefined =>
    setting && [entry, writer.code(write(setting.value)), writer.origin(setting.from, setting.span)];
  const open = (entry: MessageText): Row => [entry, writer.fill, ""];
  const words = (value: Checkpointed): string =>
    typeof value === "object" ? value.join(" ") : String(value);
  rows.push(
    given(entries.input, setup.inputs, tensors) ?? open(entries.input),
    given(entries.target, setup.targets, tensors) ?? open(entries.target),
    given(entries.loss, setup.loss, String) ?? open(entries.loss),
    given(entries.optimizer, setup.optimizer, (value) => optimizerName(value) ?? value.name) ??
      open(entries.optimizer),
    given(entries.precision, setup.precision, String) ?? [
      entries.precision,
      writer.code("fp32"),
      writer.origin("assumed"),
    ],
  );
  const optional = [
    given(entries.attention, setup.attention, String),
    given(entries.checkpoint, setup.checkpoint, words),
    given(entries.shard, setup.shard, String),
    given(entries.offload, setup.offload, String),
  ];
  return [writer.entries([...rows, ...optional.filter((row) => row !== undefined)])];
}

function modelRow({ analysis, model }: PlanFacts, writer: PlanWriter): Row {
  const { model: setting } = analysis.setup;
  if (setting !== undefined) {
    return [entries.model, writer.code(setting.value.text), writer.origin(setting.from, setting.span)];
  }
  if (model === undefined) return [entries.model, writer.fill, ""];
  const chosen = model.assumptions.find(({ key }) => key === "model");
  const text = chosen?.value ?? model.name;
  const from = chosen === undefined || chosen.from === "default" ? "assumed" : chosen.from;
  return [
    entries.model,
    writer.code(text),
    writer.origin(from, chosen?.span ?? model.classSpan ?? model.span),
  ];
}

/** As the header writes them: `int64[B,16]<50304; bool[B,16]`. */
function tensors(given: readonly InputSpecification[]): string {
  return given.map(tensor).join("; ");
}

function tensor({ name, dtype, dimensions, bound }: InputSpecification): string {
  const dims = dimensions.map(({ factor, perSample }) => {
    if (!perSample) return String(factor);
    return factor === 1 ? "B" : `${factor}*B`;
  });
  return `${name === undefined ? "" : `${name}=`}${dtype}[${dims.join(",")}]${bound === undefined ? "" : `<${bound}`}`;
}

export function deviceSection({ analysis }: PlanFacts, writer: PlanWriter): string[] {
  const { device, budget } = analysis.setup;
  const fill = writer.fill;
  const rows: Row[] = [
    device === undefined
      ? [entries.device, fill, ""]
      : [entries.device, deviceText(device.value, writer), writer.origin(device.from, device.span)],
    budget === undefined
      ? [entries.budget, fill, ""]
      : [entries.budget, formatBytes(budget.value), writer.origin(budget.from, budget.span)],
    [entries.reason, reasonOf(device?.value.bytes, budget?.value, writer), ""],
  ];
  return [writer.entries(rows)];
}

function deviceText(
  { bytes, card }: { readonly bytes: number; readonly card: string | undefined },
  writer: PlanWriter,
): string {
  const size = formatBytes(bytes);
  return card === undefined ? size : writer.text(entries.deviceCard, { card, size });
}

function reasonOf(device: number | undefined, budget: number | undefined, writer: PlanWriter): string {
  if (device === undefined || budget === undefined) return writer.fill;
  if (budget >= device) return writer.text(entries.noHeadroom, { size: formatBytes(device) });
  return writer.text(entries.headroom, {
    headroom: formatBytes(device - budget),
    percent: Math.round((100 * (device - budget)) / device),
    contextLeast: formatBytes(cudaContext.least),
    contextMost: formatBytes(cudaContext.most),
    least: Math.round(100 * allocatorSlack.least),
    most: Math.round(100 * allocatorSlack.most),
    fill: message(planMarks.fill),
  });
}

export function batchSection({ analysis }: PlanFacts, writer: PlanWriter): string[] {
  const { setup } = analysis;
  const { batch, accumulate, devices } = setup;
  const count = (entry: MessageText, setting: Setting<number> | undefined, otherwise: Row): Row =>
    setting === undefined
      ? otherwise
      : [entry, String(setting.value), writer.origin(setting.from, setting.span)];
  const one = (entry: MessageText): Row => [entry, "1", writer.origin("assumed")];
  const effective = effectiveBatch(setup);
  const factors = {
    batch: batch?.value ?? 1,
    accumulate: accumulate?.value ?? 1,
    devices: devices?.value ?? 1,
  };
  return [
    writer.entries([
      count(entries.micro, batch, [entries.micro, writer.fill, ""]),
      count(entries.accumulate, accumulate, one(entries.accumulate)),
      count(entries.devices, devices, one(entries.devices)),
      effective === undefined
        ? [entries.effective, writer.fill, ""]
        : [
            entries.effective,
            writer.text(entries.product, { ...factors, effective }),
            writer.origin("computed"),
          ],
    ]),
  ];
}
