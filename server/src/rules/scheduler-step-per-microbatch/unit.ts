/** What a schedule's length is counted in, as far as the arguments of its construction show. */
import type { Call, Expression, Node } from "../../python/tree";
import { walk } from "../../python/walk";
import { namesAccumulation } from "../../torch/training-loop/guard";
import type { RuleContext } from "../rule";

/** `unknown` where the arguments are plain numbers or settings. */
export type ScheduleUnit = "updates" | "micro-batches" | "unknown";

const maximalDepth = 5;
const updateName =
  /(num|total|max)_(update|optim(izer|ization)?)s?(_steps)?|(update|optim\w*)_(steps|per_epoch)/i;
const accumulationName = /accum|micro|update_freq|grad_acc/i;
const microBatchName = /(steps|iter(ation)?s|batches)_?per_?epoch|num_batches|^n_?iters?$|micro/i;

/**
 * `updates` when a length is divided by the accumulation steps (`len(loader) // k * epochs`) or named so;
 * `micro-batches` when it comes from the loader undivided, is multiplied by the steps, or is computed by code.
 */
export function unitOfSchedule(
  context: RuleContext,
  construction: Call,
  steps: Expression | undefined,
): ScheduleUnit {
  const signs = new Signs(context, steps);
  const [first, ...rest] = construction.positional;
  const given = [...rest, ...construction.keywords.map(({ value }) => value), ...construction.keywordSpreads];
  // The optimizer comes first, but for `get_scheduler("linear", optimizer, …)`.
  if (first !== undefined && first.kind === "String") given.push(first);
  for (const argument of given) signs.read(argument, 0);
  if (signs.computed || signs.multiplied) return "micro-batches";
  if (signs.divided) return "updates";
  return signs.counted ? "micro-batches" : "unknown";
}

class Signs {
  /** Divided by the accumulation steps, or named as a number of updates. */
  divided = false;
  multiplied = false;
  /** Comes from the loader's length. */
  counted = false;
  /** A function, or a value that uses the accumulation steps in some other way. */
  computed = false;
  private readonly seen = new Set<Node>();

  constructor(
    private readonly context: RuleContext,
    private readonly steps: Expression | undefined,
  ) {}

  read(expression: Expression, depth: number): void {
    if (depth > maximalDepth || this.seen.has(expression)) return;
    this.seen.add(expression);
    walk(expression, {
      enter: (node) => this.visit(node, depth),
    });
  }

  private visit(node: Node, depth: number): boolean {
    switch (node.kind) {
      case "Lambda":
        this.computed ||= this.mentionsSteps(node.body);
        return false;
      case "BinaryOperation":
        if (node.operator === "/" || node.operator === "//") {
          if (!this.isSteps(node.right)) return true;
          this.divided = true;
          this.read(node.left, depth);
          return false;
        }
        if (node.operator === "*" && (this.isSteps(node.left) || this.isSteps(node.right))) {
          this.multiplied = true;
        }
        return true;
      case "Call":
        this.counted ||= this.context.torch.resolve.qualifiedName(node.callee) === "builtins.len";
        return true;
      case "Name":
      case "Attribute":
        this.variable(node, depth);
        return false;
      default:
        return true;
    }
  }

  private variable(node: Expression, depth: number): void {
    const { resolve } = this.context.torch;
    const name = node.kind === "Name" ? node.id : node.kind === "Attribute" ? node.attribute.id : "";
    if (updateName.test(name)) this.divided = true;
    else if (microBatchName.test(name)) this.counted = true;
    else if (this.isSteps(node) && depth === 0) this.computed = true;
    if (node.kind === "Name") {
      const [binding] = resolve.scopes.lookup(node);
      if (binding?.kind === "function" && binding.node.kind === "FunctionDefinition") {
        this.computed ||= this.mentionsSteps(binding.node);
      }
    }
    for (const value of resolve.valuesOf(node)) this.read(value, depth + 1);
  }

  private mentionsSteps(root: Node): boolean {
    let found = false;
    walk(root, {
      enter: (node) => {
        if (node.kind === "Name" || node.kind === "Attribute" || node.kind === "Subscript") {
          found ||= this.isSteps(node);
        }
        return !found;
      },
    });
    return found;
  }

  private isSteps(expression: Expression): boolean {
    const setting = settingOf(expression);
    if (namesAccumulation(expression) || (setting !== undefined && accumulationName.test(setting)))
      return true;
    if (this.steps === undefined) return false;
    if (setting !== undefined && settingOf(this.steps) === setting) return true;
    const { resolve } = this.context.torch;
    const key = resolve.keyOf(this.steps);
    if (key !== undefined && resolve.keyOf(expression) === key) return true;
    // A literal 4 says nothing.
    return (
      this.steps.kind !== "Integer" &&
      this.context.source.slice(expression) === this.context.source.slice(this.steps)
    );
  }
}

/** `accumulate` in `config["accumulate"]`. */
function settingOf(expression: Expression): string | undefined {
  if (expression.kind !== "Subscript" || expression.index.kind !== "String") return undefined;
  return expression.index.value;
}
