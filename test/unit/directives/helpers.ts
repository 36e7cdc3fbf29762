import { readHeader } from "../../../server/src/directives/header";
import type { BudgetHeader } from "../../../server/src/directives/header";
import { render } from "../../../server/src/messages/message";
import { initializeParser, parseModule } from "../../../server/src/python/parse";
import type { TextEdit } from "../../../server/src/rules/rule";
import { readParserBinaries } from "../../../server/src/workspace/parser-binaries";

export async function startParser(): Promise<void> {
  await initializeParser(readParserBinaries());
}

/** A file with a class and a function, for header values that name them. */
export const script = `import torch
from torch import nn
class ResNet(nn.Module): pass
class Block(nn.Module): pass
def my_loss(output, target): return output.sum()
`;

export function headerOf(lines: string, rest = script): BudgetHeader {
  return readHeader(parseModule(`${lines}\n${rest}`));
}

/** What is reported: the text it is about, the message, and the text after the fix. */
export interface Reported {
  readonly at: string;
  readonly message: string;
  readonly fixed: string | undefined;
}

export function reportedIn(lines: string, rest = script): Reported[] {
  const text = `${lines}\n${rest}`;
  return readHeader(parseModule(text)).diagnostics.map(({ span, message, fix }) => ({
    at: text.slice(span.start, span.end),
    message: render(message, "en"),
    fixed: fix && applied(text, fix.edits).split("\n").slice(0, lines.split("\n").length).join("\n"),
  }));
}

export function applied(text: string, edits: readonly TextEdit[]): string {
  return [...edits]
    .sort((a, b) => b.start - a.start)
    .reduce(
      (result, { start, end, text: inserted }) => result.slice(0, start) + inserted + result.slice(end),
      text,
    );
}
