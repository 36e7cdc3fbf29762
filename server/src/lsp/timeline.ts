/** Our own request: one training step as a timeline, as it is and under another setup, simulated when asked. */
import { optimizerName } from "../directives/budget";
import type { ModelEstimate } from "../memory/estimate";
import type { Precision, TrainingSetup } from "../memory/setup";
import type { StepTimeline } from "../memory/step-timeline";
import { optimizerChoices } from "../memory/what-if";
import type { SetupChanges } from "../memory/what-if";
import { unknownReasons } from "../messages/estimate";
import { message } from "../messages/message";
import type { MessageText, MessageValue } from "../messages/message";
import { headerExamples } from "../directives/keys";
import { timelineTexts as texts } from "../messages/timeline";
import { isRecord } from "./client-features";
import { outcomeFor, textIn } from "./session";
import type { Analysed, Answered, Session } from "./session";
import { assumptionTexts, Places, reasonsOf, stepAnswer } from "./timeline-answer";
import type {
  Controls,
  StepAnswer,
  TimelineAnswer,
  TimelineNothing,
  TimelineParams,
} from "./timeline-request";

export async function timeline(session: Session, params: TimelineParams): Promise<TimelineAnswer | null> {
  const answered = await outcomeFor(session, params.textDocument.uri);
  if (answered === undefined) return null;
  const { unit, settings, outcome } = answered;
  if (outcome.kind !== "analysed") return nothing(answered, outcomeTexts[outcome.kind]);
  const start = session.host.now();
  const analysed = { unit, settings, analysis: outcome.analysis };
  const answer = answerFor(analysed, readChanges(params.changes), params.known);
  return answer.kind === "nothing" ? answer : { ...answer, milliseconds: session.host.now() - start };
}

const outcomeTexts = {
  "not-training": texts.notTraining,
  "too-large": texts.tooLarge,
  failed: texts.failed,
  disabled: texts.disabled,
} satisfies Record<string, MessageText>;

function nothing(
  { settings }: Pick<Answered, "settings">,
  text: MessageText,
  needsHeader = false,
): TimelineNothing {
  const reason = { text: textIn(settings, message(text)), place: null };
  return { kind: "nothing", reasons: [reason], needsHeader };
}

function answerFor(
  analysed: Analysed,
  changes: SetupChanges | undefined,
  known: string | undefined,
): TimelineAnswer {
  const { analysis } = analysed;
  const { setup, estimates } = analysis;
  const estimate = estimates.all()[0];
  if (estimate === undefined) return nothing(analysed, texts.noModel);
  const step = estimates.step?.();
  if (step === undefined) return withoutStep(analysed, estimate);
  const { version, places, now } = presentStep(analysed, estimate, step);
  const other = changes && estimates.changed?.(changes);
  return {
    kind: "shown",
    model: estimate.name,
    version,
    now: known === version ? null : now,
    changed: other?.step === undefined ? null : stepAnswer(analysed, places, other.estimate, other.step),
    places: places.all,
    budget: setup.budget?.value ?? null,
    device: deviceOf(setup),
    controls: controlsOf(analysed, step),
    assumptions: assumptionTexts(analysed, places, (other?.estimate ?? estimate).assumptions),
    milliseconds: 0,
  };
}

interface PresentStep {
  readonly version: string;
  readonly language: string;
  readonly places: Places;
  readonly now: StepAnswer;
}

const presentSteps = new WeakMap<Analysed["analysis"], PresentStep>();

/** The step as it is, the same as long as text and settings are: its places keep their numbers. */
function presentStep(analysed: Analysed, estimate: ModelEstimate, step: StepTimeline): PresentStep {
  const { analysis, settings, unit } = analysed;
  const known = presentSteps.get(analysis);
  if (known?.language === settings.language) return known;
  const places = new Places(unit);
  const now = stepAnswer(analysed, places, estimate, step);
  const present = { version: crypto.randomUUID(), language: settings.language, places, now };
  presentSteps.set(analysis, present);
  return present;
}

function deviceOf({ device }: TrainingSetup) {
  return device === undefined ? null : { bytes: device.value.bytes, card: device.value.card ?? null };
}

/** The model or its input is not known: what the estimate says of it is more than could be said of every script. */
function withoutStep(analysed: Analysed, { unknown, notBuilt }: ModelEstimate): TimelineNothing {
  const hasInput = analysed.analysis.setup.inputs !== undefined;
  const others = unknown.filter(({ reason }) => reason.text !== unknownReasons.input);
  const reasons = reasonsOf(analysed, new Places(analysed.unit), others);
  if (reasons.length === 0) {
    const said = message(hasInput ? texts.noMoment : texts.noInput, { example: headerExamples.input });
    reasons.push({ text: textIn(analysed.settings, said), place: null });
  }
  return {
    kind: "nothing",
    reasons,
    needsHeader: !hasInput && notBuilt !== true && analysed.analysis.header.comments.length === 0,
  };
}

const precisions: readonly Precision[] = ["fp32", "amp-fp16", "amp-bf16", "fp16", "bf16"];

function controlsOf({ analysis, settings }: Analysed, step: StepTimeline): Controls {
  const { setup, estimates } = analysis;
  const say = (text: MessageText, values: Readonly<Record<string, MessageValue>> = {}): string =>
    textIn(settings, message(text, values));
  const varies = estimates.growsWithBatch?.() === true;
  const optimizer = optimizerText(setup);
  const names = Object.keys(optimizerChoices);
  const { count, checkpointed, className } = step.blocks;
  return {
    batch: { value: setup.batch?.value ?? 1, unavailable: varies ? null : say(texts.fixedBatch) },
    recompute: {
      count,
      value: checkpointed,
      className: className ?? null,
      unavailable: noRecompute(setup, step, say),
    },
    precision: { value: setup.precision?.value ?? "fp32", choices: precisions },
    optimizer: {
      value: optimizer,
      choices: optimizer === "" || names.includes(optimizer) ? names : [optimizer, ...names],
      unavailable: setup.mode?.value === "infer" ? say(texts.noTraining) : null,
    },
  };
}

function noRecompute(
  setup: TrainingSetup,
  { blocks, work }: StepTimeline,
  say: (text: MessageText, values?: Readonly<Record<string, MessageValue>>) => string,
): string | null {
  const checkpoint = setup.checkpoint?.value ?? "none";
  if (setup.mode?.value === "infer") return say(texts.noTraining);
  if (typeof checkpoint === "object") return say(texts.namedCheckpoints, { names: checkpoint.join(", ") });
  if (blocks.count === 0) return say(texts.noBlocks);
  return checkpoint === "none" && work.again > 0 ? say(texts.ownCheckpoints) : null;
}

/** As the header would write it. */
function optimizerText({ optimizer }: TrainingSetup): string {
  if (optimizer === undefined) return "";
  const name = optimizerName(optimizer.value) ?? optimizer.value.name;
  return optimizer.value.options["fused"] === true ? `${name}(fused)` : name;
}

const mostSamples = 1 << 20;
const mostBlocks = 100_000;

/** What the client sent, as far as it makes sense; undefined when nothing changes. */
function readChanges(given: unknown): SetupChanges | undefined {
  if (!isRecord(given)) return undefined;
  const { batch, checkpointed, precision, optimizer } = given;
  const changes: SetupChanges = {
    ...(isCount(batch, 1, mostSamples) ? { batch } : {}),
    ...(isCount(checkpointed, 0, mostBlocks) ? { checkpointed } : {}),
    ...(isPrecision(precision) ? { precision } : {}),
    ...(typeof optimizer === "string" && Object.hasOwn(optimizerChoices, optimizer) ? { optimizer } : {}),
  };
  return Object.keys(changes).length === 0 ? undefined : changes;
}

function isCount(value: unknown, least: number, most: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= least && value <= most;
}

function isPrecision(value: unknown): value is Precision {
  return precisions.some((precision) => precision === value);
}
