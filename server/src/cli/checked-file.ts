/** A text checked, and repaired where asked. */
import { analyze, couldMatter } from "../analysis";
import type { Analysis, AnalysisOptions } from "../analysis";
import { parseModule, type ParsedModule } from "../python/parse";
import { Source } from "../python/source";
import { applyEdits, safeEdits } from "../rules/fix";
import type { Finding, Fix, TextEdit } from "../rules/rule";
import type { Notebook } from "../workspace/notebook";
import { isOnLines, shiftedLines, unfiltered } from "./file-filter";
import type { FileFilter } from "./file-filter";
import { keysOf, keyText, renamedKeys } from "./finding-key";
import type { FindingKey, Renamed } from "./finding-key";

export interface KeyedFinding extends Finding {
  readonly key: FindingKey;
}

/** How a text that is not Python as it stands becomes Python of the same length, and back. */
export interface TextForm {
  forParser(written: string): string;
  /** False for a change that the file behind the text cannot take. */
  allows(written: string, edit: TextEdit): boolean;
  readonly notebook: Notebook;
}

/** Parses a text, or has its tree already, and hands it to `use`. */
export type UseTree = <Result>(text: string, use: (parsed: ParsedModule) => Result) => Result;

const parseAlone: UseTree = (text, use) => use(parseModule(text));

export interface CheckedFile {
  /** What reports call it. */
  readonly name: string;
  readonly source: Source;
  /** The text as the user has it, where the parser got another. */
  readonly written?: string;
  /** Only of notebooks. */
  readonly form?: TextForm | undefined;
  /** Those to be told, in source order. */
  readonly findings: readonly KeyedFinding[];
  /** The keys of everything found, whatever the filter leaves out. */
  readonly keys: readonly FindingKey[];
  /** Those that the filter knows under the name that their function had. */
  readonly renamed?: Renamed;
  readonly failures: Analysis["failures"];
  /** What it was checked with. */
  readonly options: AnalysisOptions;
}

export interface FixedFile extends CheckedFile {
  /** How many findings a fix did away with. */
  readonly fixed: number;
}

/** Which fixes may be applied: the safe ones, or those to be looked at too. */
export type FixChoice = "safe" | "all";

export function checkText(
  name: string,
  text: string,
  options: AnalysisOptions,
  filter: FileFilter = unfiltered,
  form?: TextForm,
  useTree: UseTree = parseAlone,
): CheckedFile {
  const shape = form === undefined ? {} : { written: text, form };
  if (!couldMatter(text)) {
    return { name, source: new Source(text), ...shape, findings: [], keys: [], failures: [], options };
  }
  return useTree(form?.forParser(text) ?? text, (parsed) => {
    const { findings, failures } = analyze(parsed, { ...options, isInCells: form !== undefined });
    const keys = keysOf(parsed.module, parsed.source, findings);
    const renamed = filter.known && renamedKeys(parsed.module, keys, filter.known);
    const told = findings.flatMap((finding, index) => {
      const key = keys[index];
      if (key === undefined || filter.known?.has(keyText(key)) || renamed?.has(keyText(key))) return [];
      return isOnLines(filter.lines, parsed.source, finding.span)
        ? [{ ...possible(finding, text, form), key }]
        : [];
    });
    return {
      name,
      source: parsed.source,
      ...shape,
      findings: told,
      keys,
      ...(renamed && { renamed }),
      failures,
      options,
    };
  });
}

/** The finding with those of its fixes that can be made. */
function possible(finding: Finding, written: string, form: TextForm | undefined): Finding {
  if (form === undefined) return finding;
  const fixes = finding.fixes.filter(({ edits }) => edits.every((edit) => form.allows(written, edit)));
  return { ...finding, fixes };
}

/** Fixes uncover fixes; no file needs more rounds than this, and two fixes that undo each other end here. */
const mostRounds = 20;

/** Applies fixes until none is left. A round that would add a syntax error is not taken. */
export function fixText(
  name: string,
  text: string,
  options: AnalysisOptions,
  filter: FileFilter = unfiltered,
  choice: FixChoice = "safe",
  form?: TextForm,
  useTree: UseTree = parseAlone,
): FixedFile {
  let checked = checkText(name, text, options, filter, form, useTree);
  let left = filter;
  let fixed = 0;
  const seen = new Set([text]);
  for (let round = 0; round < mostRounds; round++) {
    const next = nextRound(checked, left, choice);
    if (next === undefined || seen.has(textOf(next.checked))) break;
    seen.add(textOf(next.checked));
    fixed += next.applied;
    ({ checked, filter: left } = next);
  }
  return { ...checked, fixed };
}

interface Round {
  readonly checked: CheckedFile;
  readonly filter: FileFilter;
  readonly applied: number;
}

/** All fixes at once; one at a time where together they would break the file. */
function nextRound(checked: CheckedFile, filter: FileFilter, choice: FixChoice): Round | undefined {
  const fixable = checked.findings.filter((finding) => isFixable(finding, choice));
  const batches = [fixable, ...(fixable.length > 1 ? fixable.map((finding) => [finding]) : [])];
  const before = textOf(checked);
  const errors = syntaxErrors(before, checked.form);
  for (const batch of batches) {
    const edits = safeEdits(batch.map((finding) => withChosenFix(finding, choice)));
    if (edits.length === 0) continue;
    const text = applyEdits(before, edits);
    if (text === before || syntaxErrors(text, checked.form) > errors) continue;
    const shifted = shiftedFilter(filter, edits, checked.source, new Source(text));
    const next = checkText(checked.name, text, checked.options, shifted, checked.form);
    const left = next.findings.filter((finding) => isFixable(finding, choice)).length;
    // A fix to be looked at may leave its finding; applied again and again it would fill the file.
    if (choice === "all" && left >= fixable.length) continue;
    return { checked: next, filter: shifted, applied: Math.max(1, fixable.length - left) };
  }
  return undefined;
}

function shiftedFilter(
  filter: FileFilter,
  edits: readonly TextEdit[],
  before: Source,
  after: Source,
): FileFilter {
  if (filter.lines === undefined) return filter;
  return { ...filter, lines: shiftedLines(filter.lines, edits, before, after) };
}

/** The fix that would be applied: a safe one where there is one. */
function chosenFix({ fixes }: Finding, choice: FixChoice): Fix | undefined {
  const safe = fixes.find(({ safety }) => safety === "safe");
  return safe ?? (choice === "all" ? fixes[0] : undefined);
}

export function isFixable(finding: Finding, choice: FixChoice): boolean {
  return chosenFix(finding, choice) !== undefined;
}

/** With the chosen fix alone, which the user's wish makes safe to apply. */
function withChosenFix(finding: Finding, choice: FixChoice): Finding {
  const fix = chosenFix(finding, choice);
  return { ...finding, fixes: fix === undefined ? [] : [{ ...fix, safety: "safe" }] };
}

/** The text as the user has it. */
export function textOf({ source, written }: CheckedFile): string {
  return written ?? source.text;
}

function syntaxErrors(text: string, form: TextForm | undefined): number {
  return parseModule(form?.forParser(text) ?? text).module.errors.length;
}
