import assert from "node:assert/strict";
import { readCommandLine, shellWords, type CommandOption } from "../../../server/src/python/command-line";
import { optionsOf } from "../../../server/src/python/command-options";
import { parseModule } from "../../../server/src/python/parse";
import { loadParser } from "../../support/parser";

describe("the words of a command line", () => {
  it("are split as a shell splits them", () => {
    const cases: readonly (readonly [string, readonly string[]])[] = [
      ["--lr 0.1   -b 4", ["--lr", "0.1", "-b", "4"]],
      [`--name "a b, c" --root='my data'`, ["--name", "a b, c", "--root=my data"]],
      [`a\\ b "say \\"x\\"" ''`, ["a b", `say "x"`, ""]],
      [`--open "to the end`, ["--open", "to the end"]],
      ["", []],
    ];
    for (const [text, words] of cases) assert.deepEqual(shellWords(text), words, text);
  });

  const options: readonly CommandOption[] = [
    { names: ["data"], takes: 1 },
    { names: ["more"], takes: "*" },
    { names: ["-b", "--batch-size"], takes: 1 },
    { names: ["--batch-norm"], takes: 0 },
    { names: ["-v"], takes: 0 },
    { names: ["--sizes"], takes: "+" },
    { names: ["--resume"], takes: "?" },
  ];
  const read = (text: string): Record<string, readonly string[]> => {
    const { given, rest } = readCommandLine(shellWords(text), options);
    const found = [...given].map(([{ names }, { words }]) => [names.at(-1), words] as const);
    return Object.fromEntries([...found, ["rest", rest]]) as Record<string, readonly string[]>;
  };

  it("go to the options as argparse gives them", () => {
    assert.deepEqual(read("path --batch-size 8 -v"), {
      data: ["path"],
      "--batch-size": ["8"],
      "-v": [],
      rest: [],
    });
    assert.deepEqual(read("--batch-s=8"), { "--batch-size": ["8"], rest: [] }, "cut short");
    assert.deepEqual(read("-b8"), { "--batch-size": ["8"], rest: [] }, "touching");
    assert.deepEqual(read("--sizes 1 -2 3 --resume"), {
      "--sizes": ["1", "-2", "3"],
      "--resume": [],
      rest: [],
    });
    assert.deepEqual(read("a b c -b 1 -b 2"), {
      data: ["a"],
      more: ["b", "c"],
      "--batch-size": ["2"],
      rest: [],
    });
  });

  it("are left over where no option is meant, or more than one", () => {
    assert.deepEqual(read("--batch 3"), { data: ["3"], rest: ["--batch"] });
    assert.deepEqual(read("--width=3"), { rest: ["--width=3"] });
  });
});

describe("the options that a file declares", () => {
  before(loadParser);

  it("are those of argparse and of absl", () => {
    const { module } = parseModule(`parser.add_argument("-b", "--batch-size", type=int)
parser.add_argument("data")
parser.add_argument("--amp", action="store_true")
parser.add_argument("--ema", action=argparse.BooleanOptionalAction)
parser.add_argument("--sizes", nargs="+", dest="widths")
flags.DEFINE_integer("width", 64, "")
flags.DEFINE_boolean("wide", False, "")
`);
    assert.deepEqual(
      optionsOf(module).map(({ names, takes, destination }) => [names.join(" "), takes, destination]),
      [
        ["-b --batch-size", 1, "batch_size"],
        ["data", 1, "data"],
        ["--amp", 0, "amp"],
        ["--ema --no-ema", 0, "ema"],
        ["--sizes", "+", "widths"],
        ["--width", 1, "width"],
        ["--wide --nowide", 0, "wide"],
      ],
    );
  });
});
