/** What the sections of a training plan are made from, and how they write Markdown. */
import type { Analysis } from "../../analysis";
import type { ModelEstimate } from "../../memory/estimate";
import type { FitAnswer } from "../../memory/fit";
import type { MeasuredLine } from "../../memory/measured-line";
import { message, render } from "../../messages/message";
import type { Language, MessageText, MessageValue } from "../../messages/message";
import { planColumns, planMarks, planOrigins } from "../../messages/training-plan";
import type { ParsedModule } from "../../python/parse";
import type { Span } from "../../python/tree";

/** Both count from 1. */
export interface PlanPlace {
  readonly line: number;
  /** Among the code cells of a notebook. */
  readonly cell?: number;
}

export interface PlanFacts {
  readonly file: string;
  readonly parsed: ParsedModule;
  readonly analysis: Analysis;
  placeOf(span: Span): PlanPlace | undefined;
  /** The model that is trained. */
  readonly model: ModelEstimate | undefined;
  /** Bytes of the budget, else of the device. */
  readonly limit: number | undefined;
  readonly fit: FitAnswer | undefined;
  readonly largestBatch: number | undefined;
  readonly line: MeasuredLine | undefined;
}

export type Origin = keyof Omit<typeof planOrigins, "atLine" | "inCell" | "inLibrary">;

/** Longer pieces of the script are cut. */
const longestExcerpt = 100;

export class PlanWriter {
  constructor(
    private readonly language: Language,
    private readonly facts: Pick<PlanFacts, "placeOf" | "parsed">,
  ) {}

  text(text: MessageText, values: Readonly<Record<string, MessageValue>> = {}): string {
    return render(message(text, values), this.language);
  }

  get fill(): string {
    return this.text(planMarks.fill);
  }

  get measure(): string {
    return this.text(planMarks.measure);
  }

  /** One line that cannot end a code span. */
  inline(text: string): string {
    const line = text.replaceAll(/\s+/g, " ").replaceAll("`", "'").trim();
    return line.length <= longestExcerpt ? line : `${line.slice(0, longestExcerpt - 1)}…`;
  }

  code(text: string): string {
    return `\`${this.inline(text)}\``;
  }

  /** A piece of the script as code. */
  excerpt(span: Span): string {
    return this.code(this.facts.parsed.source.slice(span));
  }

  /** Where a value comes from: `header, line 2`. */
  origin(from: Origin, span?: Span): string {
    const origin = message(planOrigins[from]);
    if (span === undefined) return this.text(planOrigins[from]);
    const place = this.facts.placeOf(span);
    if (place === undefined) return this.text(planOrigins.inLibrary, { origin });
    const { line, cell } = place;
    return cell === undefined
      ? this.text(planOrigins.atLine, { origin, line })
      : this.text(planOrigins.inCell, { origin, line, cell });
  }

  /** A table of entries, their values and where those come from. */
  entries(rows: readonly (readonly [entry: MessageText, value: string, source: string])[]): string {
    return this.table(
      [planColumns.entry, planColumns.value, planColumns.source],
      rows.map(([entry, ...rest]) => [this.text(entry), ...rest]),
    );
  }

  table(heads: readonly MessageText[], rows: readonly (readonly string[])[]): string {
    const line = (cells: readonly string[]): string =>
      `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
    const ruler = `|${heads.map(() => ":--|").join("")}`;
    return [line(heads.map((head) => this.text(head))), ruler, ...rows.map(line)].join("\n");
  }

  list(lines: readonly string[], mark = "-"): string {
    return lines.map((line) => `${mark} ${line}`).join("\n");
  }
}
