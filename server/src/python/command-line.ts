/**
 * The words of a command line, and which option of an `argparse` parser each belongs to.
 * https://docs.python.org/3/library/argparse.html
 */

/** How many words an option takes behind itself: a number, or as `nargs` writes it. */
export type WordCount = number | "?" | "*" | "+";

export interface CommandOption {
  /** `--batch-size`, `-b`; without a dash the one name of a positional argument. */
  readonly names: readonly string[];
  readonly takes: WordCount;
}

/** The words that follow an option's name, or that a positional argument takes; a name that was not its first is told. */
export interface GivenOption {
  readonly name: string;
  readonly words: readonly string[];
}

export interface CommandLine<Option> {
  /** The last time that each option was given counts, as in argparse. */
  readonly given: ReadonlyMap<Option, GivenOption>;
  /** Words that no option takes, in order. */
  readonly rest: readonly string[];
}

/** Splits as a POSIX shell does, without variables and patterns; an open quote lasts to the end. */
export function shellWords(text: string): string[] {
  const pieces = text.match(/(?:[^\s"'\\]|\\.|"(?:[^"\\]|\\.)*"?|'[^']*'?)+/g) ?? [];
  return pieces.map((piece) =>
    piece.replace(
      /\\(.)|"((?:[^"\\]|\\.)*)"?|'([^']*)'?/g,
      (_, sign?: string, double?: string, single?: string) =>
        sign ?? double?.replace(/\\(["\\])/g, "$1") ?? single ?? "",
    ),
  );
}

/** What argparse makes of the words. Long options may be cut short, values may follow `=`, short ones may touch theirs. */
export function readCommandLine<Option extends CommandOption>(
  words: readonly string[],
  options: readonly Option[],
): CommandLine<Option> {
  const given = new Map<Option, GivenOption>();
  const plain: string[] = [];
  const rest: string[] = [];
  let at = 0;
  while (at < words.length) {
    const word = words[at++] ?? "";
    if (!isOptionName(word, options)) {
      plain.push(word);
      continue;
    }
    const [option, name, attached] = optionOf(word, options);
    if (option === undefined) {
      rest.push(word);
      continue;
    }
    const taken = attached === undefined ? wordsBehind(words, at, option.takes, options) : [attached];
    if (attached === undefined) at += taken.length;
    given.set(option, { name, words: taken });
  }
  const positional = options.filter(({ names: [name = ""] }) => !name.startsWith("-"));
  rest.push(...givePositional(plain, positional, given));
  return { given, rest };
}

/** A negative number is a value, unless some option looks like one. */
function isOptionName(word: string, options: readonly CommandOption[]): boolean {
  if (!word.startsWith("-") || word === "-") return false;
  const isNumber = /^-\d+$|^-\d*\.\d+$/.test(word);
  return !isNumber || options.some(({ names }) => names.some((name) => /^-\d/.test(name)));
}

function optionOf<Option extends CommandOption>(
  word: string,
  options: readonly Option[],
): [option: Option | undefined, name: string, attached: string | undefined] {
  const [name = "", ...behind] = word.split("=");
  const attached = behind.length === 0 ? undefined : behind.join("=");
  const exact = options.find(({ names }) => names.includes(name));
  if (exact !== undefined) return [exact, name, attached];
  if (!name.startsWith("--")) {
    const short = word.slice(0, 2);
    const touching = options.find(({ names, takes }) => takes !== 0 && names.includes(short));
    return [touching, short, touching && word.slice(2)];
  }
  const longer = options.flatMap((option) =>
    option.names.filter((one) => one.startsWith(name)).map((one) => ({ option, one })),
  );
  const [only, other] = longer;
  return other === undefined ? [only?.option, only?.one ?? name, attached] : [undefined, name, attached];
}

function wordsBehind(
  words: readonly string[],
  from: number,
  takes: WordCount,
  options: readonly CommandOption[],
): string[] {
  const limit = most(takes);
  const taken: string[] = [];
  for (let at = from; at < words.length && taken.length < limit; at++) {
    const word = words[at] ?? "";
    if (isOptionName(word, options)) break;
    taken.push(word);
  }
  return taken;
}

/** Fills positional arguments in order; what is left over is given back. */
function givePositional<Option extends CommandOption>(
  words: readonly string[],
  options: readonly Option[],
  given: Map<Option, GivenOption>,
): string[] {
  const left = [...words];
  for (const [i, option] of options.entries()) {
    const needed = options.slice(i + 1).reduce((sum, { takes }) => sum + fewest(takes), 0);
    const taken = left.splice(0, Math.max(0, Math.min(most(option.takes), left.length - needed)));
    if (taken.length > 0) given.set(option, { name: option.names[0] ?? "", words: taken });
  }
  return left;
}

function fewest(takes: WordCount): number {
  if (typeof takes === "number") return takes;
  return takes === "+" ? 1 : 0;
}

function most(takes: WordCount): number {
  if (typeof takes === "number") return takes;
  return takes === "?" ? 1 : Infinity;
}
