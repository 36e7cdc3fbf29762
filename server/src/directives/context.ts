/** What the readers of header values share. */
import { headerMessages, reviewTitle } from "../messages/directives";
import { message } from "../messages/message";
import type { Message, MessageText, MessageValue } from "../messages/message";
import type { TrainingSetup } from "../memory/setup";
import type { DeclaredOption } from "../python/command-options";
import type { Span } from "../python/tree";
import type { Fix, FixSafety, TextEdit } from "../rules/rule";
import { spanOf } from "./comments";
import type { Text } from "./comments";
import type { ModuleNames } from "./names";

/** A mistake on its exact span, with the change that was probably meant. */
export interface HeaderDiagnostic {
  readonly span: Span;
  readonly message: Message;
  readonly fix?: Fix;
}

/** A setup while it is being filled in. */
export type SetupDraft = { -readonly [Key in keyof TrainingSetup]: TrainingSetup[Key] };

export interface ReadContext {
  readonly setup: SetupDraft;
  readonly names: ModuleNames;
  /** What the script reads from its command line, as far as the file itself says it. */
  readonly options: () => readonly DeclaredOption[];
  /** Values of the capital letters that stand for dimensions, `T=128`. */
  readonly letters: ReadonlyMap<string, number>;
  readonly diagnostics: HeaderDiagnostic[];
}

/** Reports a piece of the header; `replacement` becomes a fix that puts it in the piece's place. */
export function report(
  context: ReadContext,
  at: Text,
  text: MessageText,
  values: Readonly<Record<string, MessageValue>> = {},
  replacement?: string,
): void {
  const fix = replacement === undefined ? {} : { fix: changeFix(at, replacement) };
  context.diagnostics.push({ span: spanOf(at), message: message(text, values), ...fix });
}

/** "Change `a` to `b`": what was meant is a guess, so it wants a look. */
export function changeFix(at: Text, replacement: string): Fix {
  const title = message(headerMessages.changeTo, { from: shown(at.text), to: shown(replacement) });
  return makeFix(title, "review", [{ ...spanOf(at), text: replacement }]);
}

export function makeFix(title: Message, safety: FixSafety, edits: readonly TextEdit[]): Fix {
  return { title: safety === "review" ? message(reviewTitle, { title }) : title, safety, edits };
}

const longestShown = 60;

/** A piece of the user's text for a message: cut where it is long. */
export function shown(text: string): string {
  if (text.length <= longestShown) return text;
  // Not between the halves of a surrogate pair.
  const end = /[\ud800-\udbff]/.test(text.charAt(longestShown - 1)) ? longestShown - 1 : longestShown;
  return `${text.slice(0, end)}…`;
}
