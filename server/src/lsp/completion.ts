/** Completion inside the `# vram:` comments: keys, their values, and the names of rules. */
import { CompletionItemKind, InsertTextFormat, MarkupKind } from "vscode-languageserver";
import type { CompletionItem, CompletionParams, Range } from "vscode-languageserver";
import { catalogue } from "../analysis";
import { choices, headerExamples, headerKeys, losses, repeatableKeys } from "../directives/keys";
import type { HeaderKey } from "../directives/keys";
import { moduleNames } from "../directives/names";
import type { ModuleNames } from "../directives/names";
import { optimizerNames } from "../directives/optimizers";
import { deviceNames, findDevice } from "../memory/devices";
import { choicesOf, optionsOf } from "../python/command-options";
import type { DeclaredOption } from "../python/command-options";
import { dtypeBytes } from "../memory/tensor";
import { formatBytes } from "../memory/units";
import { headerHelpTexts } from "../messages/header-help";
import { message } from "../messages/message";
import { headerPlaceAt } from "./header-place";
import type { HeaderPlace } from "./header-place";
import { keyMarkdown } from "./key-help";
import { analysisFor, textIn } from "./session";
import type { Analysed, Session } from "./session";

/** After these a client asks again by itself. */
export const completionTriggers: readonly string[] = ["=", ",", " ", ":", "[", "("];

const suggestAgain = "editor.action.triggerSuggest";

export async function completion(session: Session, params: CompletionParams): Promise<CompletionItem[]> {
  const { uri } = params.textDocument;
  const analysed = await analysisFor(session, uri);
  const offset = analysed?.unit.offsetAt(uri, params.position);
  if (analysed === undefined || offset === undefined) return [];
  const place = headerPlaceAt(analysed.unit.parsed(), offset);
  if (place === undefined) return [];
  const start = analysed.unit.locate({ start: place.start, end: place.start })?.range.start;
  if (start === undefined) return [];
  const range = { start, end: params.position };
  switch (place.kind) {
    case "key":
      return keyItems(session, analysed, place, range);
    case "value":
      return valueItems(session, analysed, place, range);
    case "rule":
      return ruleItems(analysed, range);
    case "word":
      return wordItems(range);
  }
}

type Part<Kind extends HeaderPlace["kind"]> = Extract<HeaderPlace, { readonly kind: Kind }>;

function keyItems(session: Session, { settings, analysis }: Analysed, place: Part<"key">, range: Range) {
  const onOtherLines = analysis.header.entries
    .filter(({ start }) => start < place.start - 1)
    .flatMap(({ key }) => key ?? []);
  const given = new Set<HeaderKey>([...place.given, ...onOtherLines]);
  const again = session.features.options.commands.includes(suggestAgain)
    ? { command: { title: "", command: suggestAgain } }
    : {};
  return headerKeys
    .filter((key) => repeatableKeys.has(key) || !given.has(key))
    .map((key, index): CompletionItem => ({
      label: key,
      kind: CompletionItemKind.Property,
      detail: headerExamples[key],
      documentation: { kind: MarkupKind.Markdown, value: keyMarkdown(key, settings) },
      textEdit: { range, newText: `${key}=` },
      sortText: String(index).padStart(2, "0"),
      ...again,
    }));
}

/** A value as it is offered; `snippet` where something is to be filled in. */
interface Offer {
  readonly label: string;
  readonly detail?: string;
  readonly snippet?: string;
  readonly kind?: CompletionItemKind;
}

function valueItems(session: Session, analysed: Analysed, place: Part<"value">, range: Range) {
  if (!/^[\w. +=-]*$/.test(place.written)) return [];
  const offers = offersFor(place.key, analysed);
  // In `input=mask=float32` the dtype begins behind the name, in `checkpoint=A B` the second class behind the space.
  const behind = Math.max(place.written.lastIndexOf("="), place.written.lastIndexOf(" ")) + 1;
  const from = { ...range.start, character: range.start.character + behind };
  return offers.map(({ label, detail, snippet, kind }, index): CompletionItem => {
    const isSnippet = snippet !== undefined && session.features.snippets;
    return {
      label,
      kind: kind ?? CompletionItemKind.EnumMember,
      ...(detail === undefined ? {} : { detail }),
      textEdit: { range: { ...range, start: from }, newText: isSnippet ? snippet : label },
      ...(isSnippet ? { insertTextFormat: InsertTextFormat.Snippet } : {}),
      sortText: String(index).padStart(3, "0"),
    };
  });
}

function offersFor(key: HeaderKey, analysed: Analysed): Offer[] {
  const { settings, unit } = analysed;
  const names = (): ModuleNames => moduleNames(unit.parsed());
  const plain = (labels: readonly string[]): Offer[] => labels.map((label) => ({ label }));
  const classes = (): Offer[] => names().classes.map((label) => ({ label, kind: CompletionItemKind.Class }));
  switch (key) {
    case "device":
      return deviceNames.map((label) => {
        const size = formatBytes(findDevice(label)?.usableBytes ?? 0);
        return { label, detail: textIn(settings, message(headerHelpTexts.usable, { size })) };
      });
    case "input":
    case "target":
      return Object.keys(dtypeBytes).map((label) => ({ label, snippet: `${label}[B, $0]` }));
    case "loss":
      return [
        ...plain(losses),
        ...names().functions.map((label) => ({ label, kind: CompletionItemKind.Function })),
      ];
    case "model":
      return classes();
    case "args":
      return optionsOf(unit.parsed().module).flatMap(optionOffers);
    case "checkpoint":
      return [...plain(["none", "all"]), ...checkpointedClasses(analysed, names().classes)];
    case "optimizer":
      return plain(optimizerNames);
    case "precision":
    case "attention":
    case "shard":
    case "offload":
    case "mode":
      return plain(choices[key]);
    default:
      return [];
  }
}

/** The repeated block first, also one that a library defines; last the whole model: one checkpoint of it lowers no peak. */
function checkpointedClasses({ analysis: { estimates } }: Analysed, classes: readonly string[]): Offer[] {
  const block = estimates.step?.()?.blocks.className;
  const trained = estimates.first()?.name;
  const ordered = [...(block === undefined ? [] : [block]), ...classes.filter((name) => name !== trained)];
  const whole = classes.filter((name) => name === trained);
  return [...new Set([...ordered, ...whole])].map((label) => ({ label, kind: CompletionItemKind.Class }));
}

/** An option of the script by its last name, which is the long one. */
function optionOffers(option: DeclaredOption): Offer[] {
  const label = option.names.find((name) => name.startsWith("--")) ?? option.names.at(-1);
  if (label?.startsWith("-") !== true) return [];
  const choices = choicesOf(option).join(" | ");
  return [
    {
      label,
      kind: CompletionItemKind.Property,
      ...(choices === "" ? {} : { detail: choices }),
      ...(option.takes === 0 ? {} : { snippet: `${label} $0` }),
    },
  ];
}

function ruleItems({ settings }: Analysed, range: Range): CompletionItem[] {
  return catalogue.map(({ name, summary }) => ({
    label: name,
    kind: CompletionItemKind.EnumMember,
    detail: textIn(settings, message(summary)),
    textEdit: { range, newText: name },
  }));
}

function wordItems(range: Range): CompletionItem[] {
  return ["ignore", "disable", "enable"].map((word) => ({
    label: word,
    kind: CompletionItemKind.Keyword,
    textEdit: { range, newText: `${word}[` },
  }));
}
