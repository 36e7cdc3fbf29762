/** How evaluation leaves the normal path. */
import type { Node } from "../../python/tree";
import type { Unknown } from "../unknown";
import type { ObjectValue } from "./values";

/** A Python exception on its way to a handler. */
export class PythonError extends Error {
  constructor(
    readonly exception: ObjectValue,
    /** What to say when nobody handles it. */
    readonly unknown: Unknown,
  ) {
    super(exception.type.name);
  }
}

/** A generator gave as much as anybody will take of it. */
export class GeneratorCut extends Error {
  constructor(readonly node: Node) {
    super("generator cut");
  }
}

/** A limit of the evaluator was met: nothing in Python can catch it. */
export class EvaluationStopped extends Error {
  constructor(readonly unknown: Unknown) {
    super("evaluation stopped");
  }
}
