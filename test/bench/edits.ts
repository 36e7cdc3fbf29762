/** What a person does to a text, key by key, and what each key costs until its findings are known. */
import { analyze } from "../../server/src/analysis";
import { parseModule } from "../../server/src/python/parse";
import type { Edit, ParsedModule } from "../../server/src/python/parse";
import { faulty, printRow, quantile, script, waited } from "./programs";
import type { Program } from "./programs";

/** A line of a loop's body: offsets of its first character and of its line end, and what it is indented by. */
interface Place {
  readonly start: number;
  readonly end: number;
  readonly indentation: string;
}

/** What is done at one place: the edits that each key or command sends at once, each relative to what came before. */
interface Editing {
  readonly name: string;
  keys(text: string, place: Place): readonly (readonly Edit[])[];
}

function inserted(at: number, text: string): Edit {
  return { start: at, end: at, text };
}

/** Letter by letter; most of what stands there on the way is no Python, or names what does not exist. */
function typed(at: number, text: string): (readonly Edit[])[] {
  return Array.from(text, (letter, index) => [inserted(at + index, letter)]);
}

const editings: readonly Editing[] = [
  {
    name: "a line typed letter by letter",
    keys: (_text, { end, indentation }) => [
      [inserted(end, `\n${indentation}`)],
      ...typed(end + 1 + indentation.length, "total += loss"),
    ],
  },
  {
    name: "an argument typed in a bracket that closes last",
    keys: (_text, { end }) => typed(end, "(x)"),
  },
  {
    name: "a line put in",
    keys: (_text, { start, indentation }) => [[inserted(start, `${indentation}print(step, loss.item())\n`)]],
  },
  { name: "a line taken out", keys: (_text, { start, end }) => [[{ start, end: end + 1, text: "" }]] },
  { name: "a name changed wherever it stands near", keys: (text, place) => [renaming(text, place)] },
  {
    name: "a comment typed",
    keys: (_text, { end }) => typed(end, "  # so"),
  },
];

const near = 2_000;

/** The first name of the line becomes another one in the text around it, last place first. */
function renaming(text: string, { start, end }: Place): Edit[] {
  const name = /[A-Za-z_]\w*/.exec(text.slice(start, end))?.[0] ?? "x";
  const from = Math.max(0, start - near);
  const around = text.slice(from, end + near);
  return [...around.matchAll(new RegExp(`\\b${name}\\b`, "g"))].reverse().map((match) => {
    const at = from + match.index;
    return { start: at, end: at + name.length, text: `${name}_renamed` };
  });
}

/** The first lines of loops' bodies, some of them from all over the text. */
function placesIn(text: string, count: number): Place[] {
  const places = [...text.matchAll(/^ *for .*:\n( +)(?=\w).*$/gm)].map((match): Place => {
    const end = match.index + match[0].length;
    return { start: text.lastIndexOf("\n", end - 1) + 1, end, indentation: match[1] ?? "" };
  });
  return Array.from(
    { length: count },
    (_, index) => places[Math.floor(((index + 0.5) * places.length) / count)],
  ).filter((place) => place !== undefined);
}

/** What takes the edits back, last first. */
function undone(text: string, edits: readonly Edit[]): Edit[] {
  let now = text;
  const back = edits.map(({ start, end, text: written }) => {
    const taken = now.slice(start, end);
    now = now.slice(0, start) + written + now.slice(end);
    return { start, end: start + written.length, text: taken };
  });
  return back.reverse();
}

const placesPerText = 3;

/** Of an editing at some places: milliseconds that a person waits, one figure a key. */
function timesOf(editing: Editing, opened: ParsedModule, places: readonly Place[]): [number[], ParsedModule] {
  const times: number[] = [];
  let parsed = opened;
  for (const place of places) {
    const { text } = parsed.source;
    const keys = editing.keys(text, place);
    for (const edits of keys) {
      times.push(
        waited(() => {
          parsed = parsed.edit(edits);
          analyze(parsed);
        }),
      );
    }
    parsed = parsed.edit(undone(text, keys.flat()));
    analyze(parsed);
    if (parsed.source.text !== text) throw new Error(`${editing.name} was not taken back`);
  }
  return [times, parsed];
}

function printTimes(name: string, times: readonly number[]): void {
  printRow([
    name.padEnd(62),
    ...[0.5, 0.95].map((share) => quantile(times, share).toFixed(2)),
    String(times.length),
  ]);
}

export function editTable(): void {
  console.log("\nFrom an edit inside a loop to its findings, milliseconds that a person waits");
  printRow(["what is done".padEnd(62), "median", "95th", "edits"]);
  for (const program of [script, faulty]) for (const lines of [1_000, 10_000]) editRows(program, lines);
}

function editRows(program: Program, lines: number): void {
  let parsed = parseModule(program.text(lines));
  const places = placesIn(parsed.source.text, placesPerText);
  const all: number[] = [];
  for (const editing of editings) {
    const [times, after] = timesOf(editing, parsed, places);
    parsed = after;
    all.push(...times);
    printTimes(`${program.name} ${lines}: ${editing.name}`, times);
  }
  printTimes(`${program.name} ${lines}: all`, all);
}
