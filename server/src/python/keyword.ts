import type { Call, Expression } from "./tree";

/** The value of a keyword argument; undefined where the call does not write it out. */
export function keyword(call: Call, name: string): Expression | undefined {
  return call.keywords.find((argument) => argument.name.id === name)?.value;
}
