/**
 * `click`: the words of the header's `args` first, then the defaults of the options
 * (https://click.palletsprojects.com/en/stable/options/). What only a run can know stays open.
 */
import type { Span } from "../../../python/tree";
import { readCommandLine } from "../../../python/command-line";
import { destinationOf } from "../../../python/command-options";
import { isUnknown } from "../../unknown";
import { CallArguments } from "../arguments";
import type { Interpreter } from "../interpreter";
import { ClassValue, Float, FunctionValue, NativeFunction, type Native, type Value } from "../values";

interface Option {
  /** The parameter that it fills. */
  readonly parameter: string;
  /** `--use-amp`, and of `--use-amp/--no-amp` what turns it off. */
  readonly names: readonly string[];
  readonly turnedOffBy: readonly string[];
  readonly takes: number;
  readonly type: Value;
  readonly default: Value | undefined;
}

/** What makes another value of the words, or of the default. */
const converting = ["multiple", "nargs", "callback", "count"];

function optionOf({ positional, keywords }: CallArguments): Option | undefined {
  if (converting.some((name) => keywords.has(name))) return undefined;
  const declared = positional.filter((one) => typeof one === "string");
  const names = declared.flatMap((one) => one.split("/").slice(0, 1)).filter((one) => one.startsWith("-"));
  const turnedOffBy = declared.flatMap((one) => one.split("/").slice(1));
  const parameter = declared.find((one) => /^[A-Za-z_]\w*$/.test(one)) ?? destinationOf(names)?.toLowerCase();
  if (parameter === undefined || names.length === 0) return undefined;
  const isFlag = keywords.get("is_flag") === true || turnedOffBy.length > 0;
  return {
    parameter,
    names,
    turnedOffBy,
    takes: isFlag ? 0 : 1,
    type: keywords.get("type") ?? null,
    default: keywords.get("default") ?? (isFlag ? false : undefined),
  };
}

/** Undefined where only a run can know it: an option without a default is None, but whoever runs the script gives what it needs. */
function valueOf(interpreter: Interpreter, option: Option, span: Span | undefined): Value | undefined {
  const { names, turnedOffBy, takes } = option;
  const asked = { names: [...names, ...turnedOffBy], takes };
  const given = readCommandLine(interpreter.world.commandLine ?? [], [asked]).given.get(asked);
  if (given === undefined) return typed(interpreter, option.default, option, span);
  if (takes === 0) return !turnedOffBy.includes(given.name);
  const [word] = given.words;
  const number = Number(word);
  if (option.type !== null || typeof option.default === "string")
    return typed(interpreter, word, option, span);
  if (typeof option.default === "number") return Number.isInteger(number) ? number : undefined;
  return option.default instanceof Float && !Number.isNaN(number) ? new Float(number) : undefined;
}

function typed(
  interpreter: Interpreter,
  value: Value | undefined,
  { type }: Option,
  span: Span | undefined,
): Value | undefined {
  if (typeof value !== "string" || type === null) return value;
  if (!(type instanceof ClassValue)) return undefined;
  const converted = interpreter.call(type, new CallArguments([value]), span);
  return isUnknown(converted) ? undefined : converted;
}

const declare: Native = (interpreter, args, span) =>
  new NativeFunction("option", (_, decorated) => {
    const target = decorated.at(0) ?? null;
    if (!(target instanceof FunctionValue)) return target;
    const option = args.unknownKeywords === undefined ? optionOf(args) : undefined;
    const value = option && valueOf(interpreter, option, span);
    if (option !== undefined && value !== undefined) {
      interpreter.references.adopt(target, value);
      target.defaults.set(option.parameter, value);
    }
    target.decoratedBy ??= interpreter.unknown("call", span, { name: "click.command" });
    return target;
  });

/** `@click.command()` and `@click.command`: whoever calls it without arguments runs the command. */
const command: Native = (_, args) => {
  const given = args.at(0);
  if (given instanceof FunctionValue) return given;
  return new NativeFunction("command", (__, decorated) => decorated.at(0) ?? null);
};

export const clickFunctions: Readonly<Record<string, Native>> = {
  "click.option": declare,
  "click.argument": declare,
  "click.command": command,
};
