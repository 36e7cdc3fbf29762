/** The names that a header value may refer to: what the file binds at its top level. */
import type { ParsedModule } from "../python/parse";
import type { Expression, Statement } from "../python/tree";
import { eachStatement } from "./statements";

export interface ModuleNames {
  readonly classes: readonly string[];
  readonly functions: readonly string[];
  /** Everything bound, imports and assignments too. */
  readonly all: ReadonlySet<string>;
  /** With `from x import *` any name may exist. */
  readonly isOpen: boolean;
}

/** Names bound at module level, in conditional blocks too. */
export function moduleNames({ module, source }: ParsedModule): ModuleNames {
  const names = { classes: [] as string[], functions: [] as string[], all: new Set<string>(), isOpen: false };
  eachStatement(
    module.body,
    (statement) => collect(statement, names, source.text),
    ({ kind }) => kind !== "FunctionDefinition" && kind !== "ClassDefinition",
  );
  return names;
}

interface Collected {
  readonly classes: string[];
  readonly functions: string[];
  readonly all: Set<string>;
  isOpen: boolean;
}

function collect(statement: Statement, names: Collected, text: string): void {
  switch (statement.kind) {
    case "ClassDefinition":
      names.classes.push(statement.name.id);
      names.all.add(statement.name.id);
      break;
    case "FunctionDefinition":
      names.functions.push(statement.name.id);
      names.all.add(statement.name.id);
      break;
    case "Import":
      for (const { name, alias } of statement.names) names.all.add(alias ?? name.split(".")[0] ?? name);
      break;
    case "ImportFrom":
      for (const { name, alias } of statement.names) {
        if (name === "*") names.isOpen = true;
        else names.all.add(alias ?? name);
      }
      break;
    case "Assign":
      for (const target of statement.targets) addTargets(target, names);
      break;
    case "AnnotatedAssign":
    case "For":
      addTargets(statement.target, names);
      break;
    case "With":
      for (const { target } of statement.items) if (target) addTargets(target, names);
      break;
    case "Invalid":
      addWords(text.slice(statement.start, statement.end), names);
      break;
    default:
      break;
  }
}

/** What could not be read may define whatever it names: while a line is being typed, no more and no less. */
function addWords(text: string, names: Collected): void {
  for (const [word] of text.matchAll(/[\p{L}_][\p{L}\p{N}_]*/gu)) names.all.add(word);
  if (/\bimport\b[^\n]*\*/.test(text)) names.isOpen = true;
}

function addTargets(target: Expression, names: Collected): void {
  const pending = [target];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (next.kind === "Name") names.all.add(next.id);
    else if (next.kind === "Tuple" || next.kind === "List") pending.push(...next.elements);
    else if (next.kind === "Starred") pending.push(next.value);
  }
}
