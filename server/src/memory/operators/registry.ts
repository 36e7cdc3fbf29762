/** The table of operators by name, and how one of them is called. */
import type { Execution, Location } from "../tape";
import { Unknown } from "../unknown";
import { aliases } from "./aliases";
import type { Argument, Keywords } from "./argument";
import { Frame } from "./frame";
import { OperatorCall, type OperatorRow } from "./operator";
import { operatorNotKnown } from "./reasons";
import { bind, parseSignature, type Signature } from "./signature";
import { operatorRows } from "./table";
import { NotUnderstood } from "./values";

interface TableEntry {
  readonly row: OperatorRow;
  /** Parsed when it is needed first. */
  signature: Signature | undefined;
}

let byName: Map<string, TableEntry> | undefined;

function findEntry(name: string): TableEntry | undefined {
  if (byName === undefined) {
    byName = new Map();
    for (const row of operatorRows()) {
      const entry = { row, signature: undefined };
      for (const each of row.names) byName.set(each, entry);
    }
    for (const [other, name] of aliases) {
      const entry = byName.get(name);
      if (entry !== undefined && !byName.has(other)) byName.set(other, entry);
    }
  }
  return byName.get(name);
}

/** The row of an operator under any of its names. */
export function findOperator(name: string): OperatorRow | undefined {
  return findEntry(name)?.row;
}

/** Runs an operator; the caller owns the tensors of the answer. */
export function callOperator(
  execution: Execution,
  name: string,
  positional: readonly Argument[],
  keywords: Keywords,
  location: Location,
): Argument {
  const entry = findEntry(name);
  if (entry === undefined) return new Unknown(operatorNotKnown(name), location.span);
  entry.signature ??= parseSignature(entry.row.signature);
  const bound = bind(name, entry.signature, positional, keywords);
  if (!("values" in bound) || !("rest" in bound)) return new Unknown(bound, location.span);
  const frame = new Frame(execution);
  let result: Argument = null;
  try {
    result = entry.row.run(new OperatorCall(name, frame, bound.values, bound.rest, location));
  } catch (error) {
    if (!(error instanceof NotUnderstood)) throw error;
    result = new Unknown(error.reason, location.span);
  } finally {
    frame.end(result);
  }
  return result;
}
