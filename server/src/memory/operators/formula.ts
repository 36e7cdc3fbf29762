/**
 * Gradients of element-wise operators as formulas, as in PyTorch's tools/autograd/derivatives.yaml:
 * `grad / (2 * result)`. A formula says two things: which tensors backward needs (the names in it), and what it
 * allocates (one tensor for every operation, alive until the formula has been computed).
 */
import { isComplex, Tensor, type Dtype } from "../tensor";
import type { Frame } from "./frame";
import { elementwise, emptyLike } from "./kernels";
import { promoteTypes } from "./promotion";

export type FormulaValue = Tensor | number;
export type FormulaNames = Readonly<Record<string, FormulaValue | undefined>>;

export interface Formula {
  /** Names in it other than `grad`. */
  readonly names: ReadonlySet<string>;
  readonly evaluate: (frame: Frame, names: FormulaNames) => Tensor | undefined;
}

type Expression = (scope: Scope) => FormulaValue;

interface Scope {
  readonly frame: Frame;
  readonly names: FormulaNames;
}

const compiled = new Map<string, Formula>();

/** Compiles a formula; the same text is compiled once. */
export function formula(text: string): Formula {
  let result = compiled.get(text);
  if (result === undefined) {
    result = new Compiler(text).compile();
    compiled.set(text, result);
  }
  return result;
}

/** Operations that write into their first argument, whose storage is theirs to use. */
const inPlace = new Set(["masked_fill_", "and_", "mul_", "div_", "add_", "fill_"]);
const comparisons = new Set(["<", "<=", ">", ">=", "==", "!=", "and", "or", "not", "isnan"]);

function operate(scope: Scope, name: string, values: readonly FormulaValue[]): FormulaValue {
  const tensors = values.filter((value): value is Tensor => value instanceof Tensor);
  const first = tensors[0];
  if (first === undefined) return 0;
  if (inPlace.has(name)) return first;
  if (name === "zeros_like") return emptyLike(scope.frame, first);
  if (name === "scalar") return scope.frame.empty([], first.dtype);
  if (name === "where") {
    const [condition, ...branches] = tensors;
    const dtype = branches.map((branch) => branch.dtype).reduce(promoteTypes);
    return elementwise(scope.frame, condition === undefined ? branches : [condition, ...branches], dtype);
  }
  if (name === "masked_fill") return emptyLike(scope.frame, first);
  if (name === "isfinite") return isFinite(scope.frame, first);
  const second = tensors[1];
  // A lazily conjugated operand is written out before a product with it.
  if (name === "*" && second !== undefined && isComplex(second.dtype)) emptyLike(scope.frame, second);
  const dtype: Dtype = comparisons.has(name)
    ? "bool"
    : tensors.map((tensor) => tensor.dtype).reduce(promoteTypes);
  return elementwise(scope.frame, tensors, dtype);
}

/** `isfinite`: two masks out of the magnitudes, and both together. */
function isFinite(frame: Frame, tensor: Tensor): Tensor {
  return frame.scoped((inner) => {
    emptyLike(inner, tensor);
    for (let i = 0; i < 2; i++) emptyLike(inner, tensor, "bool");
    return emptyLike(inner, tensor, "bool");
  });
}

/** `apart(…)`: a statement of its own, whose temporaries go before the next one. */
function apart(expression: Expression): Expression {
  return ({ frame, names }) => {
    let number = 0;
    const result = frame.temporarily((inner) => {
      const value = expression({ frame: inner, names });
      if (value instanceof Tensor) return value;
      number = value;
      return undefined;
    });
    return result ?? number;
  };
}

const tokenPattern = /\s*([A-Za-z_]\w*|\d+(?:\.\d+)?|[<>=!]=|[-+*/<>(),])/y;

class Compiler {
  private readonly tokens: string[] = [];
  private readonly names = new Set<string>();
  private at = 0;

  constructor(text: string) {
    tokenPattern.lastIndex = 0;
    for (let match = tokenPattern.exec(text); match !== null; match = tokenPattern.exec(text)) {
      this.tokens.push(match[1] ?? "");
    }
  }

  compile(): Formula {
    const expression = this.comparison();
    this.names.delete("grad");
    return {
      names: this.names,
      evaluate: (frame, names) => {
        const value = expression({ frame, names });
        return value instanceof Tensor ? value : undefined;
      },
    };
  }

  private comparison(): Expression {
    return this.binary(["<", "<=", ">", ">=", "==", "!="], () =>
      this.binary(["+", "-"], () => this.binary(["*", "/"], () => this.unary())),
    );
  }

  private binary(operators: readonly string[], next: () => Expression): Expression {
    let left = next();
    for (let token = this.tokens[this.at]; operators.includes(token ?? ""); token = this.tokens[this.at]) {
      this.at++;
      const before = left;
      const right = next();
      const name = token ?? "";
      left = (scope) => operate(scope, name, [before(scope), right(scope)]);
    }
    return left;
  }

  private unary(): Expression {
    if (this.tokens[this.at] !== "-") return this.primary();
    this.at++;
    const operand = this.unary();
    return (scope) => operate(scope, "neg", [operand(scope)]);
  }

  private primary(): Expression {
    const token = this.tokens[this.at++] ?? "";
    if (token === "(") {
      const inner = this.comparison();
      this.at++;
      return inner;
    }
    if (/^\d/.test(token)) return () => Number(token);
    if (this.tokens[this.at] !== "(") {
      this.names.add(token);
      return (scope) => scope.names[token] ?? 0;
    }
    this.at++;
    const values: Expression[] = [];
    while (this.at < this.tokens.length && this.tokens[this.at] !== ")") {
      values.push(this.comparison());
      if (this.tokens[this.at] === ",") this.at++;
    }
    this.at++;
    if (token === "apart") return apart(values[0] ?? (() => 0));
    return (scope) =>
      operate(
        scope,
        token,
        values.map((value) => value(scope)),
      );
  }
}
