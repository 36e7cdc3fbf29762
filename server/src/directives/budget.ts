/**
 * What header, script and estimate come to: is the budget kept, does it make sense, do header and script agree? A pure
 * function of their results.
 */
import type { BudgetVerdict, ModelEstimate } from "../memory/estimate";
import type { OptimizerSetting, Setting, TrainingSetup } from "../memory/setup";
import { formatBytes } from "../memory/units";
import { budgetMessages as texts, headerMessages } from "../messages/directives";
import { message } from "../messages/message";
import type { Message } from "../messages/message";
import type { Source } from "../python/source";
import type { Span } from "../python/tree";
import type { Finding, Fix, RelatedLocation } from "../rules/rule";
import { levelOfDirectiveRule } from "./catalogue";
import type { DirectiveRuleName } from "./catalogue";
import { makeFix } from "./context";
import type { BudgetHeader } from "./header";
import type { HeaderKey } from "./keys";
import { optimizerNames } from "./optimizers";

/** What the findings on a header rest on; asked only where there is one. */
export interface BudgetFacts {
  readonly source: Source;
  /** Lines of the text are none that a person counts. */
  readonly isInCells?: boolean | undefined;
  /** What the script itself says; nothing of the header in it. */
  readonly script: TrainingSetup;
  readonly verdict: BudgetVerdict | undefined;
  /** The estimate that the verdict speaks of. */
  readonly estimate: ModelEstimate | undefined;
}

/** Findings on the header, in source order; none for a file without one. */
export function budgetFindings(header: BudgetHeader, facts: BudgetFacts): Finding[] {
  if (header.comments.length === 0 && header.diagnostics.length === 0) return [];
  return [
    ...header.diagnostics.map(({ span, message: text, fix }) =>
      finding("budget-invalid", span, text, [], fix === undefined ? [] : [fix]),
    ),
    ...sanityFindings(header.setup),
    ...verdictFindings(header, facts),
    ...disagreements(header, facts.script),
  ].sort((a, b) => a.span.start - b.span.start || a.span.end - b.span.end);
}

/** A budget above this part of the device leaves too little for the CUDA context and the allocator. */
const largestSafePart = 0.9;

/** The verdict on a setup; `undefined` where there is neither budget nor device, or nothing is known of the model. */
export function budgetVerdict(
  setup: TrainingSetup,
  estimate: ModelEstimate | undefined,
): BudgetVerdict | undefined {
  const budget = setup.budget?.value;
  const device = setup.device?.value.bytes;
  if (estimate === undefined || estimate.notBuilt === true || (budget === undefined && device === undefined))
    return undefined;
  const needed = estimate.peak?.allocated ?? statesOf(estimate);
  const isLowerBound = !estimate.complete || estimate.peak === null;
  const question = { budget, device, needed, isLowerBound };
  if (device !== undefined && needed > device) return { ...question, verdict: "over-device" };
  if (budget !== undefined && needed > budget) return { ...question, verdict: "over-budget" };
  return { ...question, verdict: isLowerBound ? "unknown" : "fits" };
}

/** Parameters, buffers, gradients and optimizer state: what is there whatever the activations are. */
function statesOf({ parameters, buffers, gradients, optimizer }: ModelEstimate): number {
  return parameters.bytes + buffers.bytes + gradients.bytes + (optimizer?.bytes ?? 0);
}

/** Micro-batch × accumulation steps × devices; `undefined` where the micro-batch is not known. */
export function effectiveBatch({ batch, accumulate, devices }: TrainingSetup): number | undefined {
  if (batch === undefined) return undefined;
  return batch.value * (accumulate?.value ?? 1) * (devices?.value ?? 1);
}

function sanityFindings({ budget, device }: TrainingSetup): Finding[] {
  if (budget?.span === undefined || device === undefined) return [];
  const available = device.value.bytes;
  if (budget.value > available) {
    const values = { budget: formatBytes(budget.value), device: formatBytes(available) };
    return [finding("budget-invalid", budget.span, message(headerMessages.budgetAboveDevice, values))];
  }
  if (budget.value <= available * largestSafePart) return [];
  const values = {
    headroom: formatBytes(available - budget.value),
    percent: Math.round((100 * budget.value) / available),
  };
  return [finding("budget-leaves-no-headroom", budget.span, message(texts.noHeadroom, values))];
}

/** One finding for each limit that is broken, on the limit's own value. */
function verdictFindings(header: BudgetHeader, facts: BudgetFacts): Finding[] {
  const { verdict, estimate } = facts;
  if (verdict === undefined) return [];
  const { budget, device } = header.setup;
  const { needed, isLowerBound } = verdict;
  const relatedTo = (at: Span) => (estimate === undefined ? [] : relatedOf(estimate, at));
  const where = estimate === undefined ? message(texts.nowhere) : whereOf(estimate, facts);
  const found: Finding[] = [];
  if (device?.span !== undefined && needed > device.value.bytes) {
    const text = isLowerBound ? texts.overDeviceAtLeast : texts.overDevice;
    const values = { ...overBy(needed, device.value.bytes), device: formatBytes(device.value.bytes), where };
    found.push(finding("device-exceeded", device.span, message(text, values), relatedTo(device.span)));
  }
  if (budget?.span !== undefined && needed > budget.value) {
    const text = isLowerBound ? texts.overBudgetAtLeast : texts.overBudget;
    const values = { ...overBy(needed, budget.value), budget: formatBytes(budget.value), where };
    found.push(finding("budget-exceeded", budget.span, message(text, values), relatedTo(budget.span)));
  }
  return found;
}

function overBy(needed: number, limit: number): { needed: string; over: string } {
  return { needed: formatBytes(needed), over: formatBytes(needed - limit) };
}

function whereOf({ peak }: ModelEstimate, { source, isInCells }: BudgetFacts): Message {
  if (peak === null) return message(texts.nowhere);
  const phase = message(texts[peak.phase]);
  if (peak.span === undefined || isInCells === true) return message(texts.peakIn, { phase });
  return message(texts.peakAt, { phase, line: source.lineOf(peak.span.start) + 1 });
}

const mostUnknownShown = 5;

/** The peak, and what is not understood; `at` stands for reasons that belong to no place in the script. */
function relatedOf({ peak, unknown }: ModelEstimate, at: Span): RelatedLocation[] {
  const related: RelatedLocation[] = [];
  if (peak?.span !== undefined) related.push({ span: peak.span, message: message(texts.peakHere) });
  for (const { span, reason } of unknown.slice(0, mostUnknownShown)) {
    related.push({ span: span ?? at, message: message(texts.notUnderstood, { reason }) });
  }
  return related;
}

function disagreements(header: BudgetHeader, script: TrainingSetup): Finding[] {
  const { setup } = header;
  return [
    compare("batch", setup.batch, script.batch, String),
    compare("accumulate", setup.accumulate, script.accumulate, String),
    compare("precision", setup.precision, script.precision, (precision) => precision),
    compare("optimizer", setup.optimizer, script.optimizer, optimizerName),
  ].filter((found) => found !== undefined);
}

/** Both sides as the header would write them: equal texts agree, and what it has no word for is not compared. */
function compare<Value>(
  key: HeaderKey,
  header: Setting<Value> | undefined,
  script: Setting<Value> | undefined,
  write: (value: Value) => string | undefined,
): Finding | undefined {
  if (header?.span === undefined || script === undefined || script.from !== "script") return undefined;
  const [inHeader, inScript] = [write(header.value), write(script.value)];
  if (inHeader === undefined || inScript === undefined || inHeader === inScript) return undefined;
  const values = { key, header: inHeader, script: inScript };
  const related =
    script.span === undefined ? [] : [{ span: script.span, message: message(texts.scriptSays, values) }];
  // Which of the two is right only their author knows.
  const title = message(texts.takeScriptValue, values);
  const fix = makeFix(title, "review", [
    { start: header.span.start, end: header.span.end, text: values.script },
  ]);
  return finding("budget-disagrees-with-script", header.span, message(texts.disagrees, values), related, [
    fix,
  ]);
}

/**
 * The header's name of an optimizer, from either side: `torch.optim.SGD` with momentum is `sgd-momentum`, because
 * momentum is what decides its state. Options that change only temporaries (fused, foreach) make no difference.
 * `undefined` for classes that the header has no name for.
 */
export function optimizerName({ name, options }: OptimizerSetting): string | undefined {
  const plain = bare(name.split(".").pop() ?? name).replace(/(?<=.{4})fused$/, "");
  const hasMomentum = typeof options["momentum"] === "number" && options["momentum"] !== 0;
  if (plain === "sgd" && hasMomentum) return "sgd-momentum";
  return optimizerNames.find((candidate) => bare(candidate) === plain);
}

/** `PagedAdamW8bit` and `paged_adamw8bit` are one name. */
function bare(name: string): string {
  return name.toLowerCase().replace(/[-_]/g, "");
}

function finding(
  rule: DirectiveRuleName,
  span: Span,
  text: Message,
  related: readonly RelatedLocation[] = [],
  fixes: readonly Fix[] = [],
): Finding {
  return {
    rule,
    level: levelOfDirectiveRule(rule),
    span: { start: span.start, end: span.end },
    message: text,
    related,
    fixes,
  };
}
