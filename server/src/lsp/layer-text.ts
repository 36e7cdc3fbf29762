/** Layers and calls as people read them: parameters, outputs, what the graph keeps. Markdown. */
import type { CallEstimate, LayerEstimate, ModelEstimate } from "../memory/estimate";
import { formatBytes } from "../memory/units";
import { layerTexts as texts, modelTexts } from "../messages/editor";
import { message, render } from "../messages/message";
import type { Language, MessageText, MessageValue } from "../messages/message";
import type { TrainingSetup } from "../memory/setup";

export interface LayerContext {
  readonly language: Language;
  readonly setup: TrainingSetup;
  /** The model that the layer or the call belongs to. */
  readonly model: ModelEstimate;
}

/** How many layers of one line are named. */
const mostLayers = 8;

type Write = (text: MessageText, values?: Readonly<Record<string, MessageValue>>) => string;

function writer(language: Language): Write {
  return (text, values) => render(message(text, values), language);
}

/** The layers that one line makes: their figures for one, a table for several. */
export function layersMarkdown(layers: readonly LayerEstimate[], context: LayerContext): string {
  const [only, second] = layers;
  if (only === undefined) return "";
  const write = writer(context.language);
  const blocks =
    second === undefined
      ? [`\`${only.modulePath}\` — ${only.className}`, oneLayer(only, context, write)]
      : [manyLayers(layers, context, write)];
  return [...blocks, note(context, write)].filter((block) => block !== undefined).join("\n\n");
}

function oneLayer(layer: LayerEstimate, context: LayerContext, write: Write): string {
  const rows: [string, string][] = [
    [write(texts.parameters), write(texts.count, { count: layer.parameters })],
  ];
  return table([...rows, ...ranRows(layer.ran, context, write)]);
}

function manyLayers(layers: readonly LayerEstimate[], context: LayerContext, write: Write): string {
  const heads = [texts.layer, texts.parameters, texts.output, texts.saved].map((text) => write(text));
  const rows = layers
    .slice(0, mostLayers)
    .map((layer) => [
      `\`${layer.modulePath}\``,
      write(texts.count, { count: layer.parameters }),
      outputText(layer.ran, context, write),
      savedText(layer.ran, context, write),
    ]);
  const more = layers.length - rows.length;
  if (more > 0) rows.push([write(texts.more, { count: more }), "", "", ""]);
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  const ran = layers.flatMap((layer) => layer.ran ?? []);
  const saved = sum(ran.map((call) => call.saved));
  rows.push([
    write(texts.together),
    write(texts.count, { count: sum(layers.map(({ parameters }) => parameters)) }),
    "",
    ran.length === 0 ? savedText(undefined, context, write) : bytesText(saved, context, write),
  ]);
  return [line(heads), "|:--|--:|:--|--:|", ...rows.map(line)].join("\n");
}

/** What a call in a forward gave and made the graph keep. */
export function callMarkdown(call: CallEstimate, written: string, context: LayerContext): string {
  const write = writer(context.language);
  const blocks = [`\`${written}\``, table(ranRows(call, context, write)), note(context, write)];
  return blocks.filter((block) => block !== undefined).join("\n\n");
}

function ranRows(ran: CallEstimate | undefined, context: LayerContext, write: Write): [string, string][] {
  const rows: [string, string][] = [
    [write(texts.output), outputText(ran, context, write)],
    [write(texts.saved), savedText(ran, context, write)],
  ];
  if (ran !== undefined && ran.count > 1) {
    rows.push([write(texts.runs), write(texts.count, { count: ran.count })]);
  }
  return rows;
}

function outputText(ran: CallEstimate | undefined, { model }: LayerContext, write: Write): string {
  if (model.saved === null) return write(modelTexts.unknown);
  if (ran === undefined) return write(model.complete ? texts.notCalled : modelTexts.unknown);
  const outputs = ran.outputs.map(({ dtype, shape }) => `\`${dtype}[${shape.join(", ")}]\``);
  return outputs.length === 0 ? write(modelTexts.unknown) : outputs.join(" ");
}

function savedText(ran: CallEstimate | undefined, context: LayerContext, write: Write): string {
  const { model } = context;
  if (ran !== undefined && model.saved !== null) return bytesText(ran.saved, context, write);
  return write(model.saved !== null && model.complete ? texts.nothing : modelTexts.unknown);
}

function bytesText(bytes: number, { model }: LayerContext, write: Write): string {
  if (!model.complete) return write(modelTexts.atLeast, { size: formatBytes(bytes) });
  return bytes === 0 ? write(texts.nothing) : formatBytes(bytes);
}

function note({ model, setup }: LayerContext, write: Write): string | undefined {
  return model.saved === null ? undefined : write(texts.atBatch, { batch: setup.batch?.value ?? 1 });
}

function table(rows: readonly (readonly [string, string])[]): string {
  const [first, ...others] = rows;
  return [...(first ? [line(first)] : []), "|:--|--:|", ...others.map(line)].join("\n");
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}
