/**
 * Marks in fixtures: `# expect: rule, rule` says that findings of these rules start on its line, `# expect-next: rule`
 * on the next line. A line may be marked twice for one rule by naming it twice.
 */

export interface Mark {
  /** From 1. */
  readonly line: number;
  readonly rule: string;
}

export function marksOf(text: string): Mark[] {
  const marks: Mark[] = [];
  text.split(/\r\n|\r|\n/).forEach((content, index) => {
    const match = /#\s*expect(-next)?:\s*([a-z0-9, -]+)/.exec(content);
    if (match === null) return;
    const line = index + (match[1] === undefined ? 1 : 2);
    for (const rule of (match[2] ?? "").split(",")) {
      if (rule.trim() !== "") marks.push({ line, rule: rule.trim() });
    }
  });
  return marks;
}

/** One string a mark, sorted: what `assert.deepEqual` shows well. */
export function describeMarks(marks: readonly Mark[]): string[] {
  return marks.map(({ line, rule }) => `${String(line).padStart(4)}: ${rule}`).sort();
}
