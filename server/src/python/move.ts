/** Moves what was read of one place of a text to another: the same nodes, with other offsets. */

interface Moved {
  start?: number;
  end?: number;
  /** Of functions and classes, whose span begins with their decorators. */
  definitionStart?: number;
}

/**
 * Adds `distance` to the spans of nodes and all that they hold. Their fields are gone through by name, so that no kind of
 * node can be forgotten.
 */
export function moveBy(nodes: readonly object[], distance: number): void {
  if (distance === 0) return;
  for (const node of nodes) move(node, distance);
}

function move(value: object, distance: number): void {
  const fields = value as Record<string, unknown> & Moved;
  for (const name in fields) {
    const field = fields[name];
    if (typeof field !== "object" || field === null || isHeldElsewhere(name, fields)) continue;
    if (Array.isArray(field)) moveAll(field, distance);
    else move(field, distance);
  }
  if (fields.start === undefined || fields.end === undefined) return;
  fields.start += distance;
  fields.end += distance;
  if (fields.definitionStart !== undefined) fields.definitionStart += distance;
}

/** What holds a node is above it, and what a pattern compares with is among what it reads: nothing may move twice. */
function isHeldElsewhere(name: string, fields: Readonly<Record<string, unknown>>): boolean {
  return name === "parent" || (name === "value" && "reads" in fields);
}

function moveAll(values: readonly unknown[], distance: number): void {
  for (const value of values) if (typeof value === "object" && value !== null) move(value, distance);
}
