/** One reader for each key of the header: checks the value, reports mistakes, fills the setup. */
import { isKnownOptimizer } from "../memory/optimizers";
import type { MeasuredPoint, OptimizerSetting, Setting } from "../memory/setup";
import { headerMessages as texts } from "../messages/directives";
import { readCommandLine, shellWords } from "../python/command-line";
import type { GivenOption } from "../python/command-line";
import { choicesOf, isRefused } from "../python/command-options";
import type { DeclaredOption } from "../python/command-options";
import { parseModule } from "../python/parse";
import type { Expression } from "../python/tree";
import { part, spanOf, trimmed } from "./comments";
import type { Text } from "./comments";
import { report, shown } from "./context";
import type { ReadContext } from "./context";
import { choiceMeanings, choices, losses, lossMeanings } from "./keys";
import type { ChoiceKey, HeaderKey } from "./keys";
import { nearest } from "./nearest";
import { optimizerMeanings, optimizerNames } from "./optimizers";
import { readDevice, readSize } from "./sizes";
import { split } from "./split";
import { readTensors, wholeNumber } from "./tensors";

type Reader = (value: Text, context: ReadContext) => void;

export const readers: Readonly<Record<HeaderKey, Reader>> = {
  device: (value, context) => {
    const device = readDevice(value, context);
    if (device !== undefined) context.setup.device = setting(value, device);
  },
  budget: (value, context) => {
    const bytes = readSize(value, context);
    if (bytes !== undefined) context.setup.budget = setting(value, bytes);
  },
  batch: readCount("batch"),
  accumulate: readCount("accumulate"),
  devices: readCount("devices"),
  input: (value, context) => {
    const read = readTensors(value, context);
    if (read.length > 0) context.setup.inputs = joined(context.setup.inputs, setting(value, read));
  },
  target: (value, context) => {
    const read = readTensors(value, context);
    if (read.length > 0) context.setup.targets = joined(context.setup.targets, setting(value, read));
  },
  loss: readLoss,
  model: readModel,
  args: readCommandWords,
  optimizer: readOptimizer,
  precision: (value, context) => {
    const precision = readChoice("precision", value, context);
    if (precision !== undefined) context.setup.precision = setting(value, precision);
  },
  attention: (value, context) => {
    const attention = readChoice("attention", value, context);
    if (attention !== undefined) context.setup.attention = setting(value, attention);
  },
  checkpoint: readCheckpoint,
  shard: (value, context) => {
    const shard = readChoice("shard", value, context);
    if (shard !== undefined) context.setup.shard = setting(value, shard);
  },
  offload: (value, context) => {
    const offload = readChoice("offload", value, context);
    if (offload !== undefined) context.setup.offload = setting(value, offload);
  },
  measured: readMeasured,
  mode: (value, context) => {
    const mode = readChoice("mode", value, context);
    if (mode !== undefined) context.setup.mode = setting(value, mode);
  },
};

function setting<Value>(at: Text, value: Value): Setting<Value> {
  return { value, from: "header", span: spanOf(at) };
}

function joined<Item>(
  before: Setting<readonly Item[]> | undefined,
  more: Setting<readonly Item[]>,
): Setting<readonly Item[]> {
  return before === undefined ? more : { ...before, value: [...before.value, ...more.value] };
}

/** What is above is a slip of the keyboard, and costs whoever tries all smaller ones their time. */
const largestCount = 1 << 20;

function readCount(key: "batch" | "accumulate" | "devices"): Reader {
  return (value, context) => {
    const count = wholeNumber(value.text);
    const text = shown(value.text);
    if (count === undefined || count < 1) report(context, value, texts.badInteger, { key, text });
    else if (count > largestCount)
      report(context, value, texts.countTooLarge, { key, text, limit: largestCount });
    else context.setup[key] = setting(value, count);
  };
}

function readChoice<Key extends ChoiceKey>(
  key: Key,
  value: Text,
  context: ReadContext,
): (typeof choices)[Key][number] | undefined {
  const valid: readonly (typeof choices)[Key][number][] = choices[key];
  const wanted = value.text.toLowerCase();
  const known = valid.find((choice) => choice === wanted);
  if (known !== undefined) return known;
  reportChoice(key, value, valid, choiceMeanings[key], context);
  return undefined;
}

function reportChoice(
  key: string,
  value: Text,
  valid: readonly string[],
  meanings: Readonly<Record<string, string>>,
  context: ReadContext,
  spelling = value.text,
): void {
  const text = shown(value.text);
  const near = nearest(spelling, valid, meanings);
  const list = valid.join(", ");
  if (near === undefined) report(context, value, texts.badChoice, { key, text, choices: list });
  else report(context, value, texts.badChoiceNearest, { key, text, nearest: near }, near);
}

/** A function of the file wins over a known loss of the same name: the header's user sees it in front of them. */
function readLoss(value: Text, context: ReadContext): void {
  const { names, setup } = context;
  const known = losses.find((loss) => loss === value.text.toLowerCase());
  const isOwn = names.all.has(value.text) || (names.isOpen && /^[A-Za-z_]\w*$/.test(value.text));
  if (names.functions.includes(value.text) || (known === undefined && isOwn)) {
    setup.loss = setting(value, value.text);
    return;
  }
  if (known !== undefined) {
    setup.loss = setting(value, known);
    return;
  }
  const text = shown(value.text);
  const near = nearest(lastName(value.text), [...losses, ...names.functions], lossMeanings);
  if (near === undefined) report(context, value, texts.unknownLoss, { text, choices: losses.join(", ") });
  else report(context, value, texts.unknownLossNearest, { text, nearest: near }, near);
}

/** `CrossEntropyLoss` for `nn.CrossEntropyLoss()`. */
function lastName(text: string): string {
  return text.replace(/\(.*$/s, "").split(".").pop() ?? text;
}

function readModel(value: Text, context: ReadContext): void {
  const expression = parseExpression(value.text);
  const root = expression === undefined ? undefined : rootName(expression);
  if (expression === undefined || root === undefined) {
    report(context, value, texts.badExpression, { text: shown(value.text) });
    return;
  }
  if (!isKnownName(root.id, context)) {
    reportName(
      part(value, root.start, root.end),
      [...context.names.classes, ...context.names.functions],
      context,
    );
    return;
  }
  context.setup.model = setting(value, { text: value.text, expression });
}

/** The one expression that a text consists of; `undefined` when it is anything else. */
export function parseExpression(text: string): Expression | undefined {
  const { module } = parseModule(text);
  const [statement, second] = module.body;
  if (module.errors.length > 0 || second !== undefined) return undefined;
  return statement?.kind === "ExpressionStatement" ? statement.expression : undefined;
}

/** The name that `Net`, `Net(…)`, `zoo.Net(…)` begins with; `undefined` for expressions that build no model. */
function rootName(
  expression: Expression,
): { readonly id: string; readonly start: number; readonly end: number } | undefined {
  let inner = expression;
  for (;;) {
    if (inner.kind === "Name") return inner;
    if (inner.kind === "Call") inner = inner.callee;
    else if (inner.kind === "Attribute" || inner.kind === "Subscript") inner = inner.object;
    else return undefined;
  }
}

function isKnownName(name: string, { names }: ReadContext): boolean {
  return names.isOpen || names.all.has(name);
}

function reportName(at: Text, candidates: readonly string[], context: ReadContext): void {
  const near = nearest(at.text, candidates);
  if (near === undefined) report(context, at, texts.unknownName, { name: shown(at.text) });
  else report(context, at, texts.unknownNameNearest, { name: shown(at.text), nearest: near }, near);
}

function readOptimizer(value: Text, context: ReadContext): void {
  const match = /^([A-Za-z][\w.-]*)\s*(?:\((.*)\)\s*)?$/.exec(value.text);
  if (!match) {
    report(context, value, texts.badOptimizer, { text: shown(value.text) });
    return;
  }
  const written = match[1] ?? "";
  const name = part(value, 0, written.length);
  if (!isKnownOptimizer(written)) {
    reportChoice("optimizer", name, optimizerNames, optimizerMeanings, context, lastName(written));
    return;
  }
  const options: Record<string, number | boolean | string> = Object.create(null) as Record<string, never>;
  const open = value.text.indexOf("(");
  const inner = match[2] === undefined ? undefined : part(value, open + 1, open + 1 + match[2].length);
  for (const option of inner ? split(inner, ",").pieces : []) {
    if (option.text !== "" && !readOption(option, options)) {
      report(context, option, texts.badOption, { text: shown(option.text) });
    }
  }
  const optimizer: OptimizerSetting = { name: written.toLowerCase(), options: { ...options } };
  context.setup.optimizer = setting(value, optimizer);
}

/** `fused` or `momentum=0.9`; false when it is neither. */
function readOption(option: Text, options: Record<string, number | boolean | string>): boolean {
  const match = /^([A-Za-z_]\w*)\s*(?:=\s*(\S.*))?$/.exec(option.text);
  const name = match?.[1];
  if (name === undefined) return false;
  const text = match?.[2];
  const number = Number(text);
  if (text === undefined || /^true$/i.test(text)) options[name] = true;
  else if (/^false$/i.test(text)) options[name] = false;
  else if (Number.isFinite(number)) options[name] = number;
  else if (/^[A-Za-z_]\w*$/.test(text)) options[name] = text;
  else return false;
  return true;
}

/** `none`, `all`, or class names: one, or several in brackets or with `;` between. */
function readCheckpoint(value: Text, context: ReadContext): void {
  const bracketed = /^[[(](.*)[\])]$/.exec(value.text);
  const list = bracketed ? part(value, 1, value.text.length - 1) : value;
  const pieces = split(list, bracketed ? "," : ";").pieces.filter(({ text }) => text !== "");
  const [only, other] = pieces;
  const word = other === undefined ? only?.text.toLowerCase() : undefined;
  if (word === "none" || word === "all") {
    context.setup.checkpoint = setting<"none" | "all">(value, word);
    return;
  }
  const blocks: string[] = [];
  for (const piece of pieces) {
    const root = /^[A-Za-z_]\w*/.exec(piece.text)?.[0];
    const isWord = /^(none|all)$/i.test(piece.text); // which stand alone
    if (root === undefined || isWord || !/^[A-Za-z_]\w*(?:\.\w+)*$/.test(piece.text)) {
      report(context, piece, texts.badChoice, {
        key: "checkpoint",
        text: shown(piece.text),
        choices: ["none", "all", ...context.names.classes.slice(0, 5)].join(", "),
      });
      continue;
    }
    // A block may come from a library without its name ever standing in the file: only what looks misspelt is reported.
    const near = isKnownName(root, context)
      ? undefined
      : nearest(piece.text, ["none", "all", ...context.names.classes]);
    if (near === undefined) blocks.push(piece.text);
    else report(context, piece, texts.unknownNameNearest, { name: shown(piece.text), nearest: near }, near);
  }
  if (blocks.length > 0) context.setup.checkpoint = setting(value, blocks);
}

/** The words of the script's command line. What no option of the script takes counts all the same: others may read it. */
function readCommandWords(value: Text, context: ReadContext): void {
  const words = shellWords(value.text);
  context.setup.args = joined(context.setup.args, setting(value, words));
  const options = context.options();
  if (options.length === 0) return;
  const { given, rest } = readCommandLine(words, options);
  for (const [option, taken] of given) {
    if (isRefused(option, taken)) reportRefused(value, option, taken, context);
  }
  const names = options.flatMap((option) => option.names);
  for (const word of rest) {
    const [name = word] = word.split("=");
    const near = name.startsWith("--") ? nearest(name, names) : undefined;
    if (near !== undefined)
      report(context, wordIn(value, name), texts.unknownOption, { name: shown(name), nearest: near }, near);
  }
}

function reportRefused(
  value: Text,
  option: DeclaredOption,
  { name, words }: GivenOption,
  context: ReadContext,
) {
  const [word] = words;
  const choices = choicesOf(option).join(", ");
  if (word === undefined) report(context, wordIn(value, name), texts.optionWithoutValue, { name });
  else if (choices === "")
    report(context, wordIn(value, word), texts.badOptionNumber, { name, text: shown(word) });
  else report(context, wordIn(value, word), texts.badOptionChoice, { name, text: shown(word), choices });
}

/** Where a word stands in the value; the whole value where quotes hide it. */
function wordIn(value: Text, word: string): Text {
  const at = value.text.lastIndexOf(word);
  return at < 0 || word === "" ? value : part(value, at, at + word.length);
}

/** `16:1.8GiB 32:3.0GiB`; points that cannot be read are left out. */
function readMeasured(value: Text, context: ReadContext): void {
  const points: MeasuredPoint[] = [];
  for (const match of value.text.matchAll(/[^\s:;]+\s*:\s*[\d.]+\s*[A-Za-z]+(?=[\s;]|$)|[^\s;]+/g)) {
    const piece = part(value, match.index, match.index + match[0].length);
    const colon = piece.text.indexOf(":");
    const batch = wholeNumber(piece.text.slice(0, Math.max(colon, 0)).trim());
    if (colon < 0 || batch === undefined || batch < 1) {
      report(context, piece, texts.badMeasured, { text: shown(piece.text) });
      continue;
    }
    const bytes = readSize(trimmed(part(piece, colon + 1)), context);
    if (bytes !== undefined) points.push({ batch, bytes });
  }
  if (points.length > 0) context.setup.measured = setting(value, points);
}
