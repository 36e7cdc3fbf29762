/** A simulated step as the panel gets it: moments with places in the source, figures, reasons. */
import type { Assumption, ModelEstimate, UnknownPart } from "../memory/estimate";
import { deviceUsage } from "../memory/device-usage";
import { totalOf } from "../memory/moment-bytes";
import type { StepMoment, StepTimeline } from "../memory/step-timeline";
import { originNames } from "../messages/editor";
import { message } from "../messages/message";
import { timelineTexts } from "../messages/timeline";
import type { Span } from "../python/tree";
import { textIn } from "./session";
import type { Analysed } from "./session";
import type { TextUnit } from "./text-unit";
import { tellingMoments } from "./timeline-moments";
import type { AssumptionText, Moment, Reason, SourcePlace, StepAnswer } from "./timeline-request";

/** More than a panel has pixels for. */
const mostMoments = 900;

/** Lines of the source by index, each once. */
export class Places {
  readonly all: SourcePlace[] = [];
  private readonly known = new Map<string, number>();

  constructor(private readonly unit: TextUnit) {}

  of(span: Span | undefined): SourcePlace | null {
    const place = span && this.unit.locate(span);
    if (place === undefined) return null;
    const { line, character } = place.range.start;
    return { uri: place.uri, line, character, text: this.lineText(place.uri, line) };
  }

  /** Index in `all`. */
  indexOf(span: Span | undefined): number | null {
    if (span === undefined) return null;
    const key = `${span.start} ${span.end}`;
    const known = this.known.get(key);
    if (known !== undefined) return known;
    const place = this.of(span);
    if (place === null) return null;
    this.known.set(key, this.all.length);
    return this.all.push(place) - 1;
  }

  private lineText(uri: string, line: number): string {
    const start = this.unit.offsetAt(uri, { line, character: 0 });
    if (start === undefined) return "";
    return (/^[^\r\n]*/.exec(this.unit.writtenText.slice(start))?.[0] ?? "").trim();
  }
}

/** `estimate` has a peak: it is the one of the same step. */
export function stepAnswer(
  analysed: Analysed,
  places: Places,
  estimate: ModelEstimate,
  step: StepTimeline,
): StepAnswer {
  const weighed = step.moments.map(({ phase, bytes }) => ({ phase, total: totalOf(bytes) }));
  const kept = tellingMoments(weighed, step.peak, mostMoments);
  const layers = new Map(estimate.layers?.map(({ modulePath, className }) => [modulePath, className]));
  const moments = kept.flatMap((at) => {
    const moment = step.moments[at];
    return moment === undefined ? [] : [momentAnswer(moment, at, layers, places)];
  });
  const isTraining = analysed.analysis.setup.mode?.value !== "infer";
  const allocated = weighed[step.peak]?.total ?? 0;
  const { least, most } = deviceUsage(allocated);
  return {
    moments,
    count: step.moments.length,
    peak: kept.indexOf(step.peak),
    allocated,
    usage: { least, most: estimate.complete ? most : null },
    parameters: estimate.parameters.bytes,
    gradients: estimate.gradients.bytes,
    optimizer: estimate.optimizer?.bytes ?? (isTraining ? null : 0),
    saved: estimate.complete ? (estimate.saved?.bytes ?? 0) : mostSaved(step, estimate),
    work: isTraining && !step.moments.some(({ phase }) => phase === "backward") ? null : step.work,
    complete: estimate.complete,
    reasons: reasonsOf(analysed, places, estimate.unknown),
  };
}

/** A forward that could not be followed to its end has let go of what it saved until then. */
function mostSaved({ moments }: StepTimeline, { saved }: ModelEstimate): number {
  return moments.reduce((most, { bytes }) => Math.max(most, bytes.saved), saved?.bytes ?? 0);
}

function momentAnswer(
  { phase, operator, modulePath, span, isRecomputed, bytes }: StepMoment,
  at: number,
  layers: ReadonlyMap<string, string>,
  places: Places,
): Moment {
  return {
    at,
    phase,
    operator: operatorName(operator),
    modulePath,
    layer: layers.get(modulePath) ?? "",
    place: places.indexOf(span),
    isRecomputed,
    bytes,
  };
}

/** `torch.nn.functional.conv2d` is `conv2d`, `Tensor.__add__` is `add`. */
function operatorName(operator: string): string {
  const plain = operator.replace(/^(?:torch\.nn\.functional|torch|Tensor)\./, "");
  return plain.replace(/^__(\w+)__$/, "$1");
}

export function reasonsOf(analysed: Analysed, places: Places, unknown: readonly UnknownPart[]): Reason[] {
  return unknown.map(({ reason, span }) => ({
    text: textIn(analysed.settings, reason),
    place: places.of(span),
  }));
}

const origins = ["option", "header", "script", "default"] as const;

/** What the user wrote before what was assumed. */
export function assumptionTexts(
  { settings }: Analysed,
  places: Places,
  assumptions: readonly Assumption[],
): AssumptionText[] {
  return origins.flatMap((from) =>
    assumptions
      .filter((assumption) => assumption.from === from)
      .map(({ key, value, span }) => ({
        key,
        value: value.replaceAll(/\s+/g, " "),
        origin: textIn(settings, message(from === "option" ? timelineTexts.changedHere : originNames[from])),
        place: places.of(span),
      })),
  );
}
