/** Our own request: a budget header for a script that has none, filled from the script, the rest to be filled in. */
import type { Analysis } from "../analysis";
import { headEnd } from "../directives/comments";
import { optimizerName } from "../directives/budget";
import { hasHeader } from "../directives/header";
import { headerExamples } from "../directives/keys";
import type { HeaderKey } from "../directives/keys";
import { inputText, type TrainingSetup } from "../memory/setup";
import type { ParsedModule } from "../python/parse";
import type { BudgetHeaderAnswer, BudgetHeaderParams } from "./header-request";
import { analysisFor } from "./session";
import type { Session } from "./session";

/** `null` where the text has a header already, or cannot be analysed. */
export async function budgetHeader(
  session: Session,
  params: BudgetHeaderParams,
): Promise<BudgetHeaderAnswer | null> {
  const analysed = await analysisFor(session, params.textDocument.uri);
  if (analysed === undefined) return null;
  const { unit, analysis } = analysed;
  const parsed = unit.parsed();
  if (hasHeader(parsed.module)) return null;
  const { offset, before } = newHeaderPlace(parsed, unit.writtenText);
  const place = unit.locate({ start: offset, end: offset });
  if (place === undefined) return null;
  const snippet = `${before}${snippetFor(analysis)}\n`;
  return { uri: place.uri, position: place.range.start, snippet };
}

/** What a header could say of an input that the script leaves open; its sizes are for the user to change. */
export function exampleEntries({ estimates }: Analysis): readonly string[] {
  return estimates.first()?.unknown.find(({ header }) => header !== undefined)?.header ?? [];
}

/** Where a text without a header gets one, and what has to stand before it. */
export function newHeaderPlace(parsed: ParsedModule, written: string): { offset: number; before: string } {
  const offset = placeFor(parsed, written);
  const needsLineEnd = offset > 0 && !/[\r\n]$/.test(parsed.source.text.slice(0, offset));
  return { offset, before: needsLineEnd ? "\n" : "" };
}

/** Behind the docstring; else behind the lines that must stay first: shebang, encoding, a notebook's cell magic. */
function placeFor({ module, source }: ParsedModule, written: string): number {
  const [first] = module.body;
  if (first !== undefined && headEnd(module) > first.start) {
    return source.lineStart(source.lineOf(first.end) + 1);
  }
  let offset = 0;
  for (let line = 0; line < Math.min(2, source.lineCount); line++) {
    const text = written.slice(source.lineStart(line), source.lineStart(line) + source.lineText(line).length);
    if (!/^(#!|%%|[ \t\f]*#.*?coding[:=])/.test(text)) break;
    offset = source.lineStart(line + 1);
  }
  return offset;
}

/**
 * Keys line by line, as people write them; those without a value in the script are placeholders. The model is not among
 * them: the script says more of it than one expression can, such as a head that is replaced or layers that are frozen
 * after it was made. Nor are input, target and loss where the script's own training loop has been followed to its end: it
 * says what is computed of which tensors, and goes on saying so when the script is changed.
 */
const lines: readonly (readonly HeaderKey[])[] = [
  ["device", "budget", "batch", "accumulate", "devices"],
  ["input", "target", "loss"],
  ["optimizer", "precision"],
];

/** Left out where the script does not say them: their defaults hold. */
const optional: ReadonlySet<HeaderKey> = new Set<HeaderKey>(["accumulate", "devices", "loss"]);

/** Where the example would change what holds without the entry. */
const placeholders: Readonly<Partial<Record<HeaderKey, string>>> = { precision: "fp32" };

function snippetFor(analysis: Analysis): string {
  const { setup } = analysis;
  const examples = exampleEntries(analysis);
  const known = valuesOf(setup);
  let stop = 0;
  const entry = (key: HeaderKey): string[] => {
    const value = known[key];
    if (value !== undefined) return [`${key}=${escaped(value)}`];
    const ofKey = examples.filter((example) => example.startsWith(`${key}=`));
    if (ofKey.length > 0) {
      return ofKey.map((example) => `${key}=\${${++stop}:${escaped(example.slice(key.length + 1))}}`);
    }
    if (optional.has(key) || (key === "target" && known.input !== undefined)) return [];
    stop += 1;
    const example = placeholders[key] ?? headerExamples[key].slice(key.length + 1);
    return [`${key}=\${${stop}:${escaped(example)}}`];
  };
  const said = saysItsInput(analysis) ? lines.filter((keys) => !keys.includes("input")) : lines;
  return said.map((keys) => `# vram: ${keys.flatMap(entry).join(", ")}`).join("\n");
}

function saysItsInput({ setup, estimates }: Analysis): boolean {
  // Inputs that the script gives in containers or to another method than `forward` cannot be said in a header.
  if (setup.call !== undefined) return true;
  const estimate = setup.iteration === undefined ? undefined : estimates.first();
  return estimate?.complete === true && estimate.peak !== null;
}

function valuesOf(setup: TrainingSetup): Partial<Record<HeaderKey, string | undefined>> {
  const { batch, inputs, accumulate, devices, loss, optimizer, precision } = setup;
  return {
    batch: batch && String(batch.value),
    input: inputs && inputText(inputs.value),
    accumulate: accumulate && accumulate.value > 1 ? String(accumulate.value) : undefined,
    devices: devices && devices.value > 1 ? String(devices.value) : undefined,
    loss: loss?.value,
    optimizer: optimizer && optimizerName(optimizer.value),
    precision: precision?.value,
  };
}

/** For snippets, where `$`, `}` and the backslash mean something. */
function escaped(text: string): string {
  return text.replaceAll(/[\\$}]/g, "\\$&");
}
