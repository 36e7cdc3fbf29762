/**
 * The memory section of a training plan as Markdown, filled from a script and its header. Pure. What neither says stays
 * marked as to be filled or to be measured; a lower bound is called one.
 */
import type { Analysis } from "../analysis";
import { measuredLine } from "../memory/measured-line";
import { limitOf } from "../memory/setup";
import { planIntro, planMarks, planTitles } from "../messages/training-plan";
import type { Language } from "../messages/message";
import type { ParsedModule } from "../python/parse";
import type { Span } from "../python/tree";
import { estimateSection, measuredSection, openSection } from "./training-plan/estimate";
import { acceptanceSection, experimentSection, fallbackSection } from "./training-plan/experiments";
import { batchSection, deviceSection, modelSection, taskSection } from "./training-plan/setup";
import { PlanWriter } from "./training-plan/writer";
import type { PlanFacts, PlanPlace } from "./training-plan/writer";

export interface PlanSubject {
  /** What the plan calls the script. */
  readonly file: string;
  readonly parsed: ParsedModule;
  readonly analysis: Analysis;
  /** Where a span stands as the user counts; `undefined` outside of the script. */
  placeOf(span: Span): PlanPlace | undefined;
}

/** Simulates the step anew for each way to make it fit, so this takes as long as the hover over an exceeded budget. */
export function trainingPlan(subject: PlanSubject, language: Language): string {
  const facts = factsOf(subject);
  const writer = new PlanWriter(language, facts);
  const marks = { fill: writer.text(planMarks.fill), measure: writer.text(planMarks.measure) };
  const sections: readonly (readonly [keyof typeof planTitles, readonly string[]])[] = [
    ["task", taskSection(facts, writer)],
    ["model", modelSection(facts, writer)],
    ["device", deviceSection(facts, writer)],
    ["batch", batchSection(facts, writer)],
    ["estimate", estimateSection(facts, writer)],
    ["measured", measuredSection(facts, writer)],
    ["open", openSection(facts, writer)],
    ["experiments", experimentSection(facts, writer)],
    ["acceptance", acceptanceSection(facts, writer)],
    ["fallback", fallbackSection(writer)],
  ];
  const blocks = [
    `## ${writer.text(planTitles.plan)}`,
    writer.text(planIntro.from, { file: writer.inline(subject.file), ...marks }),
    ...sections.flatMap(([title, lines]) => [`### ${writer.text(planTitles[title])}`, ...lines]),
  ];
  return `${blocks.join("\n\n")}\n`;
}

function factsOf(subject: PlanSubject): PlanFacts {
  const { setup, estimates } = subject.analysis;
  return {
    ...subject,
    model: estimates.all()[0],
    limit: limitOf(setup),
    fit: estimates.whatFits(),
    largestBatch: estimates.largestBatch(),
    line: measuredLine(setup.measured?.value ?? [], setup.batch?.value, setup.budget?.value),
  };
}
