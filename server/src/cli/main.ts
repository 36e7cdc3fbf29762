/** The command line: arguments in, exit code out; everything else goes through `io`. */
import { CommanderError } from "commander";
import { nearest } from "../directives/nearest";
import { usageMessages as texts } from "../messages/cli";
import { message } from "../messages/message";
import type { Message, MessageValue } from "../messages/message";
import { printable } from "../workspace/problem";
import { exitCodes } from "./io";
import type { Io } from "./io";
import { languageOf } from "./language";
import { createProgram } from "./program";
import { Project } from "./project";
import { terminalFor } from "./reporter";
import type { Terminal } from "./reporter";

export type { Io, Output } from "./io";

/** `argv` without the program's own name. Never throws: what goes wrong is said on standard error. */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  const terminal = terminalFor(io, languageOf(argv, io.env, new Project(io.cwd).language));
  let exitCode: number = exitCodes.clean;
  const program = createProgram(terminal, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync([...argv], { from: "user" });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return misuse(error, argv, terminal);
    const detail = printable(error instanceof Error ? (error.stack ?? error.message) : String(error));
    terminal.complain(message(texts.unexpected, { detail }));
    return exitCodes.failure;
  }
}

/** Help and version end as errors of commander too, with exit code 0. */
function misuse(error: CommanderError, argv: readonly string[], terminal: Terminal): number {
  if (error.exitCode === 0) return exitCodes.clean;
  // Without a command the help has been printed already.
  if (error.code === "commander.help") return exitCodes.failure;
  terminal.complain(mistakeOf(error));
  const command = argv.find((argument) => ["check", "estimate", "rules", "rule", "lsp"].includes(argument));
  const help = message(texts.seeHelp, { command: command === undefined ? "" : `${command} ` });
  terminal.io.stderr.write(`${terminal.text(help)}\n`);
  return exitCodes.failure;
}

/** Commander says what is wrong in English sentences only; their parts make ours. */
const mistakes: Readonly<
  Record<string, { readonly pattern: RegExp; readonly tell: (parts: readonly string[]) => Message }>
> = {
  "commander.unknownOption": {
    pattern: /unknown option '(.*?)'(?:\n\(Did you mean (?:one of )?(.*)\?\))?$/s,
    tell: ([name = "", near]) => message(texts.unknownOption, { name: printable(name), hint: hint(near) }),
  },
  "commander.unknownCommand": {
    pattern: /unknown command '(.*?)'(?:\n\(Did you mean (?:one of )?(.*)\?\))?$/s,
    tell: ([name = "", near]) => message(texts.unknownCommand, { name: printable(name), hint: hint(near) }),
  },
  "commander.missingArgument": {
    pattern: /missing required argument '(.*)'$/s,
    tell: ([name = ""]) => message(texts.missingArgument, { name: printable(name).toUpperCase() }),
  },
  "commander.optionMissingArgument": {
    pattern: /option '(.*)' argument missing$/s,
    tell: ([name = ""]) => message(texts.optionMissingArgument, { name: printable(name) }),
  },
  "commander.excessArguments": {
    pattern: /too many arguments(?: for '(.*)')?\. Expected (\d+) arguments? but got (\d+)/s,
    tell: ([name = "vramlint", expected = "0", received = "0"]) =>
      message(texts.excessArguments, { name, expected: Number(expected), received: Number(received) }),
  },
  "commander.invalidArgument": {
    pattern: /option '(\S+).*?' argument '(.*)' is invalid\. Allowed choices are (.*)\.$/s,
    tell: ([name = "", value = "", choices = ""]) =>
      message(texts.invalidValue, {
        name,
        value: printable(value),
        choices,
        hint: hint(nearest(value, choices.split(", "))),
      }),
  },
};

function mistakeOf({ code, message: text }: CommanderError): Message {
  const mistake = Object.hasOwn(mistakes, code) ? mistakes[code] : undefined;
  const match = mistake?.pattern.exec(text);
  if (mistake !== undefined && match) return mistake.tell(match.slice(1));
  return literal(printable(text.replace(/^error: /, "")));
}

function hint(near: string | undefined): MessageValue {
  return near === undefined ? message(texts.noHint) : message(texts.didYouMean, { nearest: near });
}

function literal(text: string): Message {
  return message({ en: "{text}", "zh-cn": "{text}" }, { text });
}
