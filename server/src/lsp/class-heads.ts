/** Where the classes of a module stand and where their first line ends. */
import type { ClassDefinition, Module, Span } from "../python/tree";
import { eachStatement } from "../directives/statements";

export interface ClassHead {
  readonly definition: ClassDefinition;
  readonly name: Span;
  /** Behind the colon. */
  readonly end: number;
}

/** All classes outside of functions, in source order. */
export function classHeads(module: Module, text: string): ClassHead[] {
  const heads: ClassHead[] = [];
  eachStatement(
    module.body,
    (statement) => {
      if (statement.kind !== "ClassDefinition") return;
      heads.push({ definition: statement, name: statement.name, end: headEnd(statement, text) });
    },
    (statement) => statement.kind !== "FunctionDefinition",
  );
  return heads;
}

function headEnd(definition: ClassDefinition, text: string): number {
  const { name, bases, keywords } = definition;
  const last = Math.max(name.end, ...bases.map(({ end }) => end), ...keywords.map(({ end }) => end));
  let depth = 0;
  for (let offset = last; offset < definition.end; offset++) {
    const sign = text[offset];
    if (sign === "#") offset = lineEnd(text, offset) - 1;
    else if (sign === "[" || sign === "(") depth += 1;
    else if (sign === "]" || sign === ")") depth = Math.max(0, depth - 1);
    else if (sign === ":" && depth === 0) return offset + 1;
  }
  return last;
}

function lineEnd(text: string, offset: number): number {
  const found = /[\r\n]/g;
  found.lastIndex = offset;
  return found.exec(text)?.index ?? text.length;
}
