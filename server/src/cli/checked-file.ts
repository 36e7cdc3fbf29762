/** A text checked, and repaired where asked. */
import { analyze, couldMatter } from "../analysis";
import type { Analysis, AnalysisOptions } from "../analysis";
import { parseModule } from "../python/parse";
import { Source } from "../python/source";
import { applyEdits, safeEdits } from "../rules/fix";
import type { Finding } from "../rules/rule";

export interface CheckedFile {
  /** What reports call it. */
  readonly name: string;
  readonly source: Source;
  readonly findings: readonly Finding[];
  readonly failures: Analysis["failures"];
}

export interface FixedFile extends CheckedFile {
  /** How many findings a safe fix did away with. */
  readonly fixed: number;
}

export function checkText(name: string, text: string, options: AnalysisOptions): CheckedFile {
  if (!couldMatter(text)) return { name, source: new Source(text), findings: [], failures: [] };
  const parsed = parseModule(text);
  try {
    const { findings, failures } = analyze(parsed, options);
    return { name, source: parsed.source, findings, failures };
  } finally {
    parsed.dispose();
  }
}

/** Fixes uncover fixes; no file needs more rounds than this, and two fixes that undo each other end here. */
const mostRounds = 20;

/** Applies safe fixes until none is left. A round that would add a syntax error is not taken. */
export function fixText(name: string, text: string, options: AnalysisOptions): FixedFile {
  let checked = checkText(name, text, options);
  let fixed = 0;
  const seen = new Set([text]);
  for (let round = 0; round < mostRounds; round++) {
    const next = nextRound(checked, options);
    if (next === undefined || seen.has(next.checked.source.text)) break;
    seen.add(next.checked.source.text);
    fixed += next.applied;
    checked = next.checked;
  }
  return { ...checked, fixed };
}

interface Round {
  readonly checked: CheckedFile;
  readonly applied: number;
}

/** All safe fixes at once; one at a time where together they would break the file. */
function nextRound(checked: CheckedFile, options: AnalysisOptions): Round | undefined {
  const fixable = checked.findings.filter(hasSafeFix);
  const batches = [fixable, ...(fixable.length > 1 ? fixable.map((finding) => [finding]) : [])];
  const errors = syntaxErrors(checked.source.text);
  for (const batch of batches) {
    const edits = safeEdits(batch);
    if (edits.length === 0) continue;
    const text = applyEdits(checked.source.text, edits);
    if (text === checked.source.text || syntaxErrors(text) > errors) continue;
    const next = checkText(checked.name, text, options);
    return { checked: next, applied: Math.max(1, fixable.length - next.findings.filter(hasSafeFix).length) };
  }
  return undefined;
}

export function hasSafeFix({ fixes }: Finding): boolean {
  return fixes.some(({ safety }) => safety === "safe");
}

function syntaxErrors(text: string): number {
  const parsed = parseModule(text);
  parsed.dispose();
  return parsed.module.errors.length;
}
