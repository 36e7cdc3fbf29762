/** The commands and options, with help in two languages. */
import { Command, Help, Option } from "commander";
import type { Argument } from "commander";
import { version } from "../../../package.json";
import { helpMessages as texts } from "../messages/cli";
import { message } from "../messages/message";
import type { MessageText } from "../messages/message";
import { check } from "./check";
import type { CheckOptions } from "./check-options";
import { estimate } from "./estimate";
import type { EstimateOptions } from "./estimate";
import { languageChoices } from "./language";
import { levels } from "./levels";
import { formats as checkFormats } from "./report/formats";
import type { Terminal } from "./reporter";
import { printRule, printRules } from "./rules";

/** `done` is told the exit code of the command that ran. */
export function createProgram(terminal: Terminal, done: (exitCode: number) => void): Command {
  const t = (text: MessageText, values: Record<string, string> = {}): string =>
    terminal.text(message(text, values));
  const formats = (text: MessageText, choices: readonly string[] = ["text", "json"]): Option =>
    new Option("--format <format>", t(text)).choices(choices).default("text");
  const language = (): Option =>
    new Option("--lang <language>", t(texts.lang)).choices(languageChoices).default("auto");
  const stdinFilename = (): Option => new Option("--stdin-filename <name>", t(texts.stdinFilename));

  const program = dressed(new Command("vramlint"), terminal)
    .description(t(texts.program))
    .version(version, "-V, --version", t(texts.version))
    .helpCommand("help [command]", t(texts.helpCommand))
    .addOption(language())
    .addHelpText("after", `\n${t(texts.exitCodes)}`);
  const command = (usage: string, description: MessageText): Command =>
    dressed(program.command(usage), terminal).description(t(description)).addOption(language());

  command("check", texts.check)
    .argument("[paths...]", t(texts.checkPaths))
    .addOption(formats(texts.checkFormat, checkFormats))
    .option("--fix", t(texts.fix), false)
    .option("--unsafe-fixes", t(texts.unsafeFixes), false)
    .addOption(listOption("--select <rules>", t(texts.select)))
    .addOption(listOption("--ignore <rules>", t(texts.ignore)))
    .addOption(listOption("--level <rule=level>", t(texts.level)))
    .addOption(new Option("--fail-on <level>", t(texts.failOn)).choices(levels).default("hint"))
    .option("--exit-zero", t(texts.exitZero), false)
    .option("--diff <ref>", t(texts.diff))
    .option("--baseline <file>", t(texts.baseline))
    .option("--write-baseline", t(texts.writeBaseline), false)
    .option("--prune", t(texts.prune), false)
    .option("--statistics", t(texts.statistics), false)
    .option("--max-file-size <size>", t(texts.maxFileSize))
    .option("--force-exclude", t(texts.forceExclude), false)
    .addOption(stdinFilename())
    .action(async (paths: string[], options: CheckOptions) => done(await check(paths, options, terminal)));
  command("estimate", texts.estimate)
    .argument("<file>", t(texts.estimateFile))
    .addOption(formats(texts.format))
    .option("--budget <size>", t(texts.budget))
    .option("--device <device>", t(texts.device))
    .option("--batch <count>", t(texts.batch))
    .option("--model <expression>", t(texts.model))
    .option("--args <words>", t(texts.args))
    .option("--python <path>", t(texts.python))
    .option("--exit-zero", t(texts.estimateExitZero), false)
    .addOption(stdinFilename())
    .addHelpText("after", `\n${t(texts.estimateExitCodes)}`)
    .action(async (file: string, options: EstimateOptions) => done(await estimate(file, options, terminal)));
  command("rules", texts.rules)
    .addOption(formats(texts.format))
    .action(({ format }: { format: "text" | "json" }) => done(printRules(format, terminal)));
  command("rule", texts.rule)
    .argument("<name>", t(texts.ruleName))
    .action(async (name: string) => done(await printRule(name, terminal)));
  command("lsp", texts.lsp)
    .option("--stdio", t(texts.stdio))
    .action(() => terminal.io.startServer?.());
  return program;
}

/** An option that may be given several times. */
function listOption(flags: string, description: string): Option {
  return new Option(flags, description)
    .argParser((value: string, before: string[]) => [...before, value])
    .default([], "");
}

/** Output to our streams, exceptions instead of exits, help in the run's language. */
function dressed(command: Command, terminal: Terminal): Command {
  const { io } = terminal;
  const t = (text: MessageText, values: Record<string, string> = {}): string =>
    terminal.text(message(text, values));
  const titles: Readonly<Record<string, MessageText>> = {
    "Usage:": texts.usage,
    "Arguments:": texts.arguments,
    "Options:": texts.options,
    "Commands:": texts.commands,
  };
  return command
    .exitOverride()
    .helpOption("-h, --help", t(texts.help))
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
      // Mistakes are reported by `main.ts`, in the run's language.
      outputError: () => undefined,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .configureHelp({
      styleTitle: (title) => (Object.hasOwn(titles, title) ? t(titles[title] ?? texts.usage) : title),
      optionDescription: (option) => described(option, t),
      argumentDescription: (argument: Argument) => argument.description,
      subcommandDescription: (subcommand) =>
        Help.prototype.subcommandDescription.call(new Help(), subcommand),
    });
}

function described(
  option: Option,
  t: (text: MessageText, values?: Record<string, string>) => string,
): string {
  const remarks: string[] = [];
  if (option.argChoices) remarks.push(t(texts.choices, { list: option.argChoices.join(", ") }));
  if (typeof option.defaultValue === "string") remarks.push(t(texts.default, { value: option.defaultValue }));
  return remarks.length === 0 ? option.description : `${option.description} (${remarks.join("; ")})`;
}
