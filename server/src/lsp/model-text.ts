/** An estimate as people read it: the table of a hover and the few words of a hint. */
import type { ModelEstimate } from "../memory/estimate";
import type { TrainingSetup } from "../memory/setup";
import { message, render } from "../messages/message";
import type { Language, Message, MessageText, MessageValue } from "../messages/message";
import { hintPhases, hintTexts, modelTexts, originNames, phaseNames } from "../messages/editor";
import type { Span } from "../python/tree";
import { allocatorSlack, cudaContext, deviceUsage } from "../memory/device-usage";
import { formatBytes } from "../memory/units";

export interface TextContext {
  readonly language: Language;
  readonly setup: TrainingSetup;
  /** The line of a span as the user counts it. */
  lineOf(span: Span): number | undefined;
  /** Bytes that only running operators hold at the peak, where that is known of the model. */
  readonly temporary?: number | undefined;
  /** Budget, largest micro-batch, what would make it fit: what takes longer than a hint may. Markdown. */
  readonly verdict?: string | undefined;
  readonly effectiveBatch?: string | undefined;
  /** Where a link opens the step's timeline, in clients that can. */
  readonly timelineLink?: string | undefined;
}

/** How many of the parts that were not understood are named. */
const mostReasons = 5;

/** Parameters, buffers, gradients and optimizer state; `undefined` while the optimizer is not known. */
export function modelStates(model: ModelEstimate, setup: TrainingSetup): number | undefined {
  const { parameters, buffers, gradients, optimizer } = model;
  if (optimizer === null && setup.mode?.value !== "infer") return undefined;
  return parameters.bytes + buffers.bytes + gradients.bytes + (optimizer?.bytes ?? 0);
}

/** Longer values of assumptions, such as a model's expression, are cut. */
const longestValue = 40;

/** Markdown; figures are bytes for people, with "at least" where something was not understood. */
export function modelMarkdown(model: ModelEstimate, context: TextContext): string {
  const write = writer(context.language);
  if (model.notBuilt === true) return notEstimated(model, context, write);
  const bound = (bytes: number) =>
    model.complete ? formatBytes(bytes) : write(modelTexts.atLeast, { size: formatBytes(bytes) });
  const { count, trainable } = model.parameters;
  const countText = trainable === count ? modelTexts.allTrainable : modelTexts.parameterCount;
  const rows = rowsOf(model, context, write, bound).map(([part, size]) => `| ${part} | ${size} |`);
  const blocks = [
    [`**${model.name}** — ${write(countText, { count, trainable })}`, ...timelineLink(context, write)].join(
      " · ",
    ),
    context.verdict,
    [`| ${write(modelTexts.part)} | ${write(modelTexts.size)} |`, "|:--|--:|", ...rows].join("\n"),
    notUnderstood(model, context, write),
    context.effectiveBatch,
    (model.saved?.perSample ?? 0) > 0 ? write(modelTexts.grows) : undefined,
    assumptionsOf(model, write),
    model.peak === null ? undefined : deviceNote(write),
  ];
  return blocks.filter((block) => block !== undefined).join("\n\n");
}

function timelineLink({ timelineLink: target }: TextContext, write: Write): string[] {
  return target === undefined ? [] : [`[${write(modelTexts.showTimeline)}](${target})`];
}

type Write = (text: MessageText, values?: Readonly<Record<string, MessageValue>>) => string;

function writer(language: Language): Write {
  return (text, values) => render(message(text, values), language);
}

function rowsOf(
  model: ModelEstimate,
  context: TextContext,
  write: Write,
  bound: (bytes: number) => string,
): [string, string][] {
  const { optimizer, buffers } = model;
  const unknown = write(modelTexts.unknown);
  const rows: [string, string][] = [
    [write(modelTexts.peak), peakText(model, context, write, bound) ?? unknown],
  ];
  if (model.peak !== null) rows.push([write(modelTexts.onDevice), deviceText(model, write) ?? unknown]);
  rows.push([write(modelTexts.parameters), bound(model.parameters.bytes)]);
  if (buffers.bytes > 0) rows.push([write(modelTexts.buffers), bound(buffers.bytes)]);
  if (context.setup.mode?.value !== "infer") {
    rows.push([write(modelTexts.gradients), bound(model.gradients.bytes)]);
    rows.push(
      optimizer === null
        ? [write(modelTexts.optimizerUnknown), unknown]
        : [write(modelTexts.optimizer, { name: optimizer.name }), bound(optimizer.bytes)],
    );
    const states = modelStates(model, context.setup);
    if (states !== undefined) rows.push([write(modelTexts.states), bound(states)]);
  }
  if (model.host !== undefined) rows.push([write(modelTexts.host), bound(model.host)]);
  rows.push([write(modelTexts.saved), savedText(model, write, bound) ?? unknown]);
  if (context.temporary !== undefined) rows.push([write(modelTexts.temporary), bound(context.temporary)]);
  return rows;
}

/** "At least nothing" is no figure. */
function savedText(
  { saved, complete }: ModelEstimate,
  write: Write,
  bound: (bytes: number) => string,
): string | undefined {
  if (saved === null || (saved.bytes === 0 && !complete)) return undefined;
  // The header's or script's batch is a number in a shape: what one more sample takes, nobody asked.
  if (saved.perSample === 0) return bound(saved.bytes);
  return write(modelTexts.savedPerSample, {
    size: bound(saved.bytes),
    perSample: formatBytes(saved.perSample),
  });
}

/** Allocated, workspaces, allocator slack and context: an interval, whose end nobody knows of a lower bound. */
function deviceText({ peak, complete }: ModelEstimate, write: Write): string | undefined {
  if (peak === null) return undefined;
  const usage = deviceUsage(peak.allocated);
  const sizes = { least: formatBytes(usage.least), most: formatBytes(usage.most) };
  return complete
    ? write(modelTexts.onDeviceSize, sizes)
    : write(modelTexts.onDeviceFrom, { least: sizes.least });
}

function deviceNote(write: Write): string {
  return write(modelTexts.deviceNote, {
    least: Math.round(100 * allocatorSlack.least),
    most: Math.round(100 * allocatorSlack.most),
    contextLeast: formatBytes(cudaContext.least),
    contextMost: formatBytes(cudaContext.most),
  });
}

function peakText(
  { peak }: ModelEstimate,
  context: TextContext,
  write: Write,
  bound: (bytes: number) => string,
): string | undefined {
  if (peak === null) return undefined;
  const line = peak.span && context.lineOf(peak.span);
  const values = { size: bound(peak.allocated), phase: message(phaseNames[peak.phase]) };
  return line === undefined
    ? write(modelTexts.peakIn, values)
    : write(modelTexts.peakAtLine, { ...values, line });
}

function notUnderstood(model: ModelEstimate, context: TextContext, write: Write): string | undefined {
  if (model.unknown.length === 0) return undefined;
  return [write(modelTexts.notUnderstood), ...reasonLines(model, context, write)].join("\n");
}

/** No figure at all: the reasons alone. */
function notEstimated(model: ModelEstimate, context: TextContext, write: Write): string {
  const lines = [write(modelTexts.notEstimated), ...reasonLines(model, context, write)];
  return `**${model.name}**\n\n${lines.join("\n")}`;
}

function reasonLines(model: ModelEstimate, context: TextContext, write: Write): string[] {
  const lines = model.unknown.slice(0, mostReasons).map(({ span, reason }) => {
    const line = span && context.lineOf(span);
    return line === undefined
      ? render(reason, context.language)
      : write(modelTexts.unknownAtLine, { line, reason });
  });
  const more = model.unknown.length - lines.length;
  if (more > 0) lines.push(write(modelTexts.more, { count: more }));
  return lines.map((line) => `- ${line}`);
}

/** One line for each origin; what the user wrote before what was assumed. */
function assumptionsOf({ assumptions }: ModelEstimate, write: Write): string | undefined {
  const lines = origins.flatMap((from) => {
    const same = assumptions.filter((assumption) => assumption.from === from);
    if (same.length === 0) return [];
    const parts = same.map(({ key, value }) => `\`${key}=${shortened(value)}\``);
    return [write(modelTexts.from, { origin: message(originNames[from]), assumptions: onLines(parts) })];
  });
  return lines.length === 0 ? undefined : lines.join("  \n");
}

/** Characters; a longer line would stretch the whole hover. */
const longestLine = 60;

function onLines(parts: readonly string[]): string {
  let text = "";
  let length = 0;
  for (const part of parts) {
    if (length > 0 && length + part.length > longestLine) {
      text += "  \n";
      length = 0;
    } else if (length > 0) text += " ";
    text += part;
    length += part.length + 1;
  }
  return text;
}

const origins = ["option", "header", "script", "default"] as const;

function shortened(value: string): string {
  const line = value.replaceAll(/\s+/g, " ").replaceAll("`", "'");
  return line.length <= longestValue ? line : `${line.slice(0, longestValue - 1)}…`;
}

/** The hint behind `class Net(nn.Module):`. */
export function modelHint(model: ModelEstimate, context: TextContext): string {
  const write = writer(context.language);
  if (model.notBuilt === true) return notEstimatedHint(model, context);
  const sign = signOf(model);
  const states = modelStates(model, context.setup);
  return states === undefined
    ? write(hintTexts.parameters, { sign, size: formatBytes(model.parameters.bytes) })
    : write(hintTexts.states, { sign, size: formatBytes(states) });
}

/**
 * The hint behind the header: what the step needs, against the budget or else the device. The shortest that says it;
 * the phase and the parts are in the hover.
 */
export function headerHint(model: ModelEstimate, context: TextContext): string {
  if (model.notBuilt === true) return notEstimatedHint(model, context);
  const need = needText(model, context.setup);
  if (!model.complete && model.unknown.length > 0) {
    return render(message(hintTexts.notUnderstood, { need, count: model.unknown.length }), context.language);
  }
  if (model.peak === null) return render(message(hintTexts.statesOnly, { need }), context.language);
  const line = model.peak.span && context.lineOf(model.peak.span);
  const phase = message(hintPhases[model.peak.phase]);
  const text =
    line === undefined
      ? message(hintTexts.peakIn, { need, phase })
      : message(hintTexts.peakAtLine, { need, line });
  return render(text, context.language);
}

/** Characters that VS Code shows of a hint. */
const longestHint = 43;

/** The reason where there is room for it, else where it stands: half a sentence says less than the hover, and looks broken. */
function notEstimatedHint({ unknown }: ModelEstimate, context: TextContext): string {
  const [first] = unknown;
  const write = writer(context.language);
  if (first === undefined) return write(hintTexts.notEstimatedHere);
  // A hint shows back ticks as they are.
  const whole = write(hintTexts.notEstimated, { reason: first.reason }).replaceAll("`", "");
  if (whole.length <= longestHint) return whole;
  const line = first.span && context.lineOf(first.span);
  return line === undefined
    ? write(hintTexts.notEstimatedHere)
    : write(hintTexts.notEstimatedAtLine, { line });
}

function needText(model: ModelEstimate, setup: TrainingSetup): Message {
  const { parameters, buffers, gradients, peak } = model;
  const bytes =
    peak?.allocated ?? modelStates(model, setup) ?? parameters.bytes + buffers.bytes + gradients.bytes;
  const sign = model.complete && peak !== null ? "≈" : "≥";
  const limit = setup.budget?.value ?? setup.device?.value.bytes;
  if (limit === undefined || limit <= 0) return message(hintTexts.need, { sign, size: formatBytes(bytes) });
  const [unit, size, decimals] =
    limit >= 1024 ** 3 ? (["GiB", 1024 ** 3, 2] as const) : (["MiB", 1024 ** 2, 1] as const);
  const figure = (value: number): string => (value / size).toFixed(decimals);
  const percent = Math.round((100 * bytes) / limit);
  if (percent < 1)
    return message(hintTexts.lessThanOnePercent, {
      sign,
      size: formatBytes(bytes),
      limit: figure(limit),
      unit,
    });
  return message(hintTexts.needOf, { sign, figure: figure(bytes), limit: figure(limit), unit, percent });
}

function signOf(model: ModelEstimate): string {
  return model.complete ? "≈" : "≥";
}

/** Micro-batch × accumulation steps × devices, once one of them is known. */
export function effectiveBatch(setup: TrainingSetup, language: Language): string | undefined {
  if (setup.batch === undefined) return undefined;
  const batch = setup.batch.value;
  const accumulate = setup.accumulate?.value ?? 1;
  const devices = setup.devices?.value ?? 1;
  const effective = batch * accumulate * devices;
  return writer(language)(modelTexts.effectiveBatch, { batch, accumulate, devices, effective });
}
