/** What is known of a value's graph, and how knowledge of several values is put together. */
import type { FunctionDefinition, Node } from "../../python/tree";
import type { Certainty } from "../resolve";

/** A position inside a value: an index, a key or attribute, `*` for any element. */
export type Path = readonly (number | string)[];

/** The value depends on what the caller gives for a parameter. */
export interface ParameterUse {
  readonly owner: FunctionDefinition;
  readonly name: string;
  readonly path: Path;
}

export interface Carried {
  /** `yes` only with positive evidence: the result of a model whose parameters require gradients, a backward over it. */
  readonly graph: "yes" | "no" | "unknown";
  /** How well the model behind it is known. Meaningful for `yes`. */
  readonly certainty: Certainty;
  /** The calls that began the graph: models called, values that are backwarded later. */
  readonly sources: ReadonlySet<Node>;
  /** What it also depends on, not counted in `graph`. */
  readonly parameters: readonly ParameterUse[];
  /** True when it is surely one tensor, not a tuple, a dictionary or a model's output object. */
  readonly tensor: boolean;
  /** True when it surely has one element. */
  readonly scalar: boolean;
}

const nothing: ReadonlySet<Node> = new Set();

/** Carries no graph whatever happens. */
export const severed: Carried = {
  graph: "no",
  certainty: "resolved",
  sources: nothing,
  parameters: [],
  tensor: false,
  scalar: false,
};

export const unknown: Carried = { ...severed, graph: "unknown" };

export function madeBy(source: Node, certainty: Certainty, tensor: boolean, scalar = false): Carried {
  return { graph: "yes", certainty, sources: new Set([source]), parameters: [], tensor, scalar };
}

export function ofParameter(owner: FunctionDefinition, name: string, path: Path): Carried {
  return { ...severed, parameters: [{ owner, name, path }] };
}

const rank: Readonly<Record<Certainty, number>> = { resolved: 2, annotation: 1, name: 0 };

/** What may be any of several values, or is made from all of them: carries a graph when one does. */
export function join(values: readonly Carried[]): Carried {
  const [only] = values;
  if (only === undefined) return severed;
  if (values.length === 1) return only;
  const carrying = values.filter(({ graph }) => graph === "yes");
  const parameters = uniqueUses(values.flatMap((value) => value.parameters));
  if (carrying.length === 0) {
    return {
      ...severed,
      graph: values.some(({ graph }) => graph === "unknown") ? "unknown" : "no",
      parameters,
    };
  }
  const sources = new Set<Node>();
  for (const value of carrying) for (const source of value.sources) sources.add(source);
  return {
    graph: "yes",
    certainty: carrying.reduce<Certainty>(
      (sure, { certainty }) => (rank[certainty] > rank[sure] ? certainty : sure),
      "name",
    ),
    sources,
    parameters,
    tensor: carrying.every(({ tensor }) => tensor),
    scalar: carrying.every(({ scalar }) => scalar),
  };
}

/** The result of a tensor operation over several values. */
export function operation(values: readonly Carried[], scalar: boolean): Carried {
  return { ...join(values), tensor: true, scalar };
}

function uniqueUses(uses: readonly ParameterUse[]): ParameterUse[] {
  const seen = new Map<string, ParameterUse>();
  for (const use of uses) seen.set(`${use.owner.start}:${use.name}:${use.path.join(".")}`, use);
  return [...seen.values()];
}
