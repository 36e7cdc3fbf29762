/** Estimates for people: a table for each model, then what it rests on. */
import { effectiveBatch } from "../../directives/budget";
import type { ModelEstimate } from "../../memory/estimate";
import { allocatorSlack, cudaContext, deviceUsage } from "../../memory/device-usage";
import { formatBytes } from "../../memory/units";
import { estimateMessages as texts } from "../../messages/cli";
import { message } from "../../messages/message";
import type { Message } from "../../messages/message";
import type { Span } from "../../python/tree";
import { printable } from "../../workspace/problem";
import type { Terminal } from "../reporter";
import type { EstimateFacts } from "./estimate-json";
import { displayWidth, padTo } from "./frame";
import { cellPlaceOf } from "./place";
import type { Placed } from "./place";

export function textEstimate(facts: EstimateFacts, terminal: Terminal): string {
  const sections = facts.models.map((model, index) => {
    const lines = modelLines(model, facts, terminal);
    if (index > 0) return lines;
    return [
      ...lines,
      ...budgetLines(facts, terminal),
      ...fitLines(facts, terminal),
      ...measuredLines(facts, terminal),
    ];
  });
  return `${sections.map((lines) => lines.join("\n")).join("\n\n")}\n`;
}

/** Label, figure, remark. */
type Row = readonly [label: Message, figure: string, remark: string];

function modelLines(model: ModelEstimate, facts: EstimateFacts, terminal: Terminal): string[] {
  const { colors } = terminal;
  const { cell, line } = cellPlaceOf(facts, model.span);
  const place = `${printable(facts.name)}:${cell === undefined ? "" : `cell ${cell}:`}${line}`;
  const title = colors.bold(`${place}: ${printable(model.name)}`);
  if (model.notBuilt === true) {
    return [title, ...reasonLines(message(texts.notEstimated), model, facts, terminal)];
  }
  return [
    title,
    ...tableLines(rowsOf(model, facts, terminal), terminal),
    ...deviceLines(model, terminal),
    ...(model.complete ? [] : [`  ${colors.yellow(terminal.text(message(texts.lowerBound)))}`]),
    ...unknownLines(model, facts, terminal),
    ...assumptionLines(model, terminal),
  ];
}

function rowsOf(model: ModelEstimate, placed: Placed, terminal: Terminal): Row[] {
  const { parameters, buffers, gradients, optimizer, saved, peak } = model;
  const count = (value: number): string => value.toLocaleString("en");
  const figure = (bytes: number): string => {
    const text = formatBytes(bytes);
    return model.complete ? text : terminal.text(message(texts.atLeast, { bytes: text }));
  };
  const unknown = terminal.text(message(texts.notKnown));
  const counts = { count: count(parameters.count), trainable: count(parameters.trainable) };
  const rows: Row[] = [
    [
      message(texts.parameters),
      figure(parameters.bytes),
      terminal.text(message(texts.parameterCount, counts)),
    ],
    [message(texts.buffers), figure(buffers.bytes), ""],
    [message(texts.gradients), figure(gradients.bytes), ""],
    [message(texts.optimizer), optimizer ? figure(optimizer.bytes) : unknown, optimizer?.name ?? ""],
    [
      message(texts.saved),
      saved ? figure(saved.bytes) : unknown,
      saved && saved.perSample > 0
        ? terminal.text(message(texts.perSample, { bytes: formatBytes(saved.perSample) }))
        : "",
    ],
    [message(texts.peak), peak ? figure(peak.bytes) : unknown, peak ? peakPlace(peak, placed, terminal) : ""],
  ];
  if (peak) rows.push([message(texts.allocated), figure(peak.allocated), ""]);
  if (model.host !== undefined) {
    rows.push([message(texts.host), figure(model.host), terminal.text(message(texts.hostRemark))]);
  }
  return rows;
}

/** An interval; of a lower bound only its beginning is known. */
function deviceLines({ peak, complete }: ModelEstimate, terminal: Terminal): string[] {
  if (peak === null) return [];
  const usage = deviceUsage(peak.allocated);
  const [least, most] = [formatBytes(usage.least), formatBytes(usage.most)];
  const size = complete ? message(texts.interval, { least, most }) : message(texts.atLeast, { bytes: least });
  const values = {
    size,
    least: Math.round(100 * allocatorSlack.least),
    most: Math.round(100 * allocatorSlack.most),
    contextLeast: formatBytes(cudaContext.least),
    contextMost: formatBytes(cudaContext.most),
  };
  return [`  ${terminal.text(message(texts.onDevice, values))}`];
}

function peakPlace(peak: NonNullable<ModelEstimate["peak"]>, placed: Placed, terminal: Terminal): string {
  const phase = message(texts[peak.phase]);
  if (peak.span === undefined) return terminal.text(message(texts.peakIn, { phase }));
  return terminal.text(message(texts.peakAt, { phase, place: lineText(placed, peak.span) }));
}

function tableLines(rows: readonly Row[], terminal: Terminal): string[] {
  const labelled = rows.map(([label, figure, remark]) => ({ label: terminal.text(label), figure, remark }));
  const labels = Math.max(...labelled.map(({ label }) => displayWidth(label)));
  const figures = Math.max(...labelled.map(({ figure }) => displayWidth(figure)));
  return labelled.map(({ label, figure, remark }) => {
    const gap = " ".repeat(figures - displayWidth(figure));
    return `  ${padTo(label, labels)}  ${gap}${figure}  ${printable(remark)}`.trimEnd();
  });
}

/** `line 5`, in a notebook `cell 2, line 5`. */
function lineText(placed: Placed, span: Span): Message {
  const { cell, line } = cellPlaceOf(placed, span);
  return cell === undefined ? message(texts.line, { line }) : message(texts.cellLine, { cell, line });
}

function unknownLines({ unknown }: ModelEstimate, placed: Placed, terminal: Terminal): string[] {
  return unknown.length === 0 ? [] : reasonLines(message(texts.notUnderstood), { unknown }, placed, terminal);
}

function reasonLines(
  title: Message,
  { unknown }: Pick<ModelEstimate, "unknown">,
  placed: Placed,
  terminal: Terminal,
): string[] {
  const lines = unknown.map(({ span, reason }) => {
    const text =
      span === undefined ? reason : message(texts.placeReason, { place: lineText(placed, span), reason });
    return `    ${printable(terminal.text(text))}`;
  });
  return [`  ${terminal.text(title)}`, ...new Set(lines)];
}

function assumptionLines({ assumptions }: ModelEstimate, terminal: Terminal): string[] {
  if (assumptions.length === 0) return [];
  const lines = assumptions.map(({ key, value, from }) => {
    return `    ${printable(key)} = ${printable(value)} (${terminal.text(message(texts[from]))})`;
  });
  return [`  ${terminal.text(message(texts.assumptions))}`, ...lines];
}

function budgetLines({ setup, verdict, largestBatch }: EstimateFacts, terminal: Terminal): string[] {
  const rows: Row[] = [];
  if (verdict?.budget !== undefined) rows.push([message(texts.budget), formatBytes(verdict.budget), ""]);
  if (verdict?.device !== undefined) {
    rows.push([message(texts.device), formatBytes(verdict.device), setup.device?.value.card ?? ""]);
  }
  const batch = effectiveBatch(setup);
  if (batch !== undefined) {
    const factors = [setup.batch, setup.accumulate, setup.devices].map((factor) => factor?.value ?? 1);
    rows.push([message(texts.effectiveBatch), String(batch), factors.join(" × ")]);
  }
  if (largestBatch !== undefined) rows.push([message(texts.largestBatch), String(largestBatch), ""]);
  if (rows.length === 0) return [];
  const sentence = verdict === undefined ? [] : [`  ${verdictText(verdict, terminal)}`];
  return [...tableLines(rows, terminal), ...sentence];
}

/** Changes that were simulated anew; those that do not help enough are said to. */
function fitLines({ fit }: EstimateFacts, terminal: Terminal): string[] {
  if (fit === undefined || fit.options.length === 0) return [];
  const lines = fit.options.map(({ title, bytes, isLowerBound }) => {
    const figure = formatBytes(bytes);
    const shown = isLowerBound ? terminal.text(message(texts.atLeast, { bytes: figure })) : figure;
    return `    ${terminal.text(message(bytes > fit.limit ? texts.notFits : texts.nowFits, { change: title, bytes: shown }))}`;
  });
  return [`  ${terminal.text(message(texts.whatFits))}`, ...lines];
}

function measuredLines({ measured, setup }: EstimateFacts, terminal: Terminal): string[] {
  if (measured === undefined) return [];
  const line = { fixed: formatBytes(measured.fixed), perSample: formatBytes(measured.perSample) };
  const rows: Row[] = [[message(texts.measured), terminal.text(message(texts.measuredLine, line)), ""]];
  if (measured.prediction !== undefined && setup.batch !== undefined) {
    const at = terminal.text(message(texts.predictedAt, { batch: setup.batch.value }));
    rows.push([message(texts.predicted), formatBytes(measured.prediction), at]);
  }
  if (measured.largestBatch !== undefined) {
    rows.push([message(texts.largestByLine), String(measured.largestBatch), ""]);
  }
  if (measured.largestMeasured !== undefined) {
    rows.push([message(texts.largestMeasured), String(measured.largestMeasured), ""]);
  }
  return [...tableLines(rows, terminal), `  ${terminal.text(message(texts.measuredScope))}`];
}

function verdictText(verdict: NonNullable<EstimateFacts["verdict"]>, terminal: Terminal): string {
  const { needed, budget, device } = verdict;
  const { colors } = terminal;
  switch (verdict.verdict) {
    case "over-device":
      return colors.red(
        terminal.text(message(texts.overDevice, { over: formatBytes(needed - (device ?? 0)) })),
      );
    case "over-budget":
      return colors.red(
        terminal.text(message(texts.overBudget, { over: formatBytes(needed - (budget ?? 0)) })),
      );
    case "fits": {
      const limit = budget ?? device ?? needed;
      return colors.green(
        terminal.text(message(texts.fits, { percent: Math.round((100 * needed) / limit) })),
      );
    }
    case "unknown":
      return colors.yellow(terminal.text(message(texts.verdictUnknown)));
  }
}
