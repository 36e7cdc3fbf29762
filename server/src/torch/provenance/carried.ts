/**
 * Whether a value carries a graph, asked for one expression at a time and remembered. Follows assignments that reach
 * the expression, local functions by what they return, models by what is known of them. Whatever is not understood is
 * `unknown`, never `yes`.
 */
import { NodeTable } from "../../python/node-table";
import type {
  Attribute,
  Call,
  Comprehension,
  Expression,
  FunctionDefinition,
  Subscript,
} from "../../python/tree";
import { graphKeepingAttributes, severingAttributes } from "../api-graph";
import type { Resolver } from "../resolve";
import { CarriedByCalls, type GivenValues } from "./carried-calls";
import { atEntry, type Definition, type Flow, type Reaching } from "./flow";
import type { GradientModes } from "./gradient-mode";
import { AnswersByPath, openQuestions } from "./questions";
import { isNumber, matchesKey, scaledLeaf } from "./shapes";
import { isNoTensorAt, tensorTestAround } from "./tensor-tests";
import type { ModuleParameters } from "./parameters";
import type { BackwardCall } from "./sinks";
import {
  join,
  madeBy,
  ofParameter,
  operation,
  severed,
  unknown,
  type Carried,
  type ParameterUse,
  type Path,
} from "./value";

export interface CarriedValues {
  /** What the value carries by this function's own text; parameters are left open. */
  of(expression: Expression, path?: Path): Carried;
  /** The same with parameters replaced by what the callers in this file give, and the callers' gradient mode. */
  closed(expression: Expression, path?: Path): Carried;
  /** What the arguments that a value depends on carry, over all callers. */
  close(carried: Carried): Carried;
  ofArgument(call: Call, use: ParameterUse): Carried;
  /** Definitions whose value is backwarded as it is: they carry a graph, however they were made. True: one element. */
  proven(): ReadonlyMap<Definition, boolean>;
}

/** What is put into a container, by its key. */
export interface StoredValue {
  readonly value: Expression;
  /** The container as the place names it that puts the value in. */
  readonly holder: Expression;
  /** The element of `value` (for `extend`), or all of it. */
  readonly path: Path;
  /** The literal key it is stored under, when it is one. */
  readonly key: number | string | undefined;
}

export interface CarriedOptions {
  readonly resolver: Resolver;
  readonly flow: Flow;
  readonly modes: GradientModes;
  readonly parameters: ModuleParameters;
  readonly backwards: readonly BackwardCall[];
  storedIn(key: string): readonly StoredValue[];
}

export function createCarriedValues(options: CarriedOptions): CarriedValues {
  return new Evaluator(options);
}

class Evaluator implements CarriedValues, GivenValues {
  private readonly known: AnswersByPath<Expression>;
  private readonly definitions = new AnswersByPath<Definition>(new Map());
  private readonly fromCallers = new AnswersByPath<FunctionDefinition>(new Map());
  private readonly findAnew = (expression: Expression, path: Path): Carried => this.compute(expression, path);
  private readonly findDefined = (definition: Definition, path: Path): Carried =>
    this.markProven(definition, this.definedValue(definition, path));
  private provenByBackward: Map<Definition, boolean> | undefined;

  private readonly calls: CarriedByCalls;

  constructor(private readonly options: CarriedOptions) {
    this.known = new AnswersByPath<Expression>(new NodeTable(options.resolver.module));
    this.calls = new CarriedByCalls(options, this);
  }

  of(expression: Expression, path: Path = []): Carried {
    return openQuestions.remember(this.known, expression, path, this.findAnew);
  }

  closed(expression: Expression, path: Path = []): Carried {
    if (this.options.modes.at(expression) === "off" && !this.isProven(expression)) return severed;
    return this.close(this.of(expression, path));
  }

  /** A value that is backwarded was made with gradients on, whatever we think of the mode. */
  private isProven(expression: Expression): boolean {
    const proven = this.proven();
    return (this.options.flow.reaching(expression) ?? []).some((one) => one !== atEntry && proven.has(one));
  }

  close(carried: Carried): Carried {
    if (carried.parameters.length === 0) return carried;
    const own: Carried = { ...carried, parameters: [] };
    return join([own, ...carried.parameters.map((use) => this.ofCallers(use))]);
  }

  ofArgument(call: Call, use: ParameterUse): Carried {
    const { resolver, modes } = this.options;
    const argument = resolver.argumentFor(call, use.owner, use.name);
    if (argument === undefined) return this.ofDefault(use);
    if (modes.at(call) === "off") return severed;
    return this.of(argument, use.path);
  }

  ofDefault(use: ParameterUse): Carried {
    const fallback = use.owner.parameters.find(({ name }) => name.id === use.name)?.default;
    return fallback ? severed : unknown;
  }

  private ofCallers(use: ParameterUse): Carried {
    return openQuestions.remember(this.fromCallers, use.owner, [use.name, ...use.path], () => {
      const calls = this.options.resolver.callsTo(use.owner);
      if (calls.length === 0) return unknown;
      return openQuestions.deeper(() => join(calls.map((call) => this.close(this.ofArgument(call, use)))));
    });
  }

  private compute(expression: Expression, path: Path): Carried {
    switch (expression.kind) {
      case "Name":
        return this.ofVariable(expression, path) ?? severed;
      case "Attribute":
        return this.ofVariable(expression, path) ?? this.ofAttribute(expression, path);
      case "Call":
        return this.calls.of(expression, path);
      case "Subscript":
        return this.ofSubscript(expression, path);
      case "BinaryOperation":
        return this.operated(expression, [expression.left, expression.right]);
      case "UnaryOperation":
        return expression.operator === "not" ? severed : this.operated(expression, [expression.operand]);
      case "Conditional":
        return join([this.of(expression.body, path), this.of(expression.orelse, path)]);
      case "BooleanOperation":
        return join(expression.operands.map((operand) => this.of(operand, path)));
      case "NamedExpression":
      case "Await":
      case "Starred":
        return this.of(expression.value, path);
      case "Tuple":
      case "List":
      case "Set":
        return this.ofDisplay(expression.elements, path);
      case "Dict": {
        const [key, ...rest] = path;
        const entries = expression.entries.filter((entry) => matchesKey(entry.key, key));
        return join(entries.map((entry) => this.of(entry.value, entry.key ? rest : path)));
      }
      case "Comprehension":
        return this.ofComprehension(expression, path);
      case "Yield":
      case "Invalid":
        return unknown;
      default:
        return severed;
    }
  }

  private ofDisplay(elements: readonly Expression[], path: Path): Carried {
    const [index, ...rest] = path;
    if (typeof index === "number") {
      const element = elements[index < 0 ? elements.length + index : index];
      if (element && !elements.some(({ kind }) => kind === "Starred")) return this.of(element, rest);
    }
    const whole = join(elements.map((element) => this.of(element, rest)));
    return path.length === 0 ? { ...whole, tensor: false, scalar: false } : whole;
  }

  private ofComprehension(comprehension: Comprehension, path: Path): Carried {
    const element = this.of(comprehension.element, path.slice(1));
    return path.length === 0 ? { ...element, tensor: false, scalar: false } : element;
  }

  /** An operation on tensors: severed where gradients are off. */
  operated(node: Expression, operands: readonly Expression[]): Carried {
    const mode = this.options.modes.lexicallyAt(node);
    if (mode === "off") return severed;
    const values = operands.map((operand) => this.of(operand));
    const result = operation(
      values,
      values.every((value, index) => value.scalar || isNumber(operands[index])),
    );
    return mode === "unknown" && result.graph === "yes" ? unknown : result;
  }

  // --- Variables --------------------------------------------------------------------------------------------------

  private ofVariable(variable: Expression, path: Path): Carried | undefined {
    const { flow, resolver } = this.options;
    const reaching = flow.reaching(variable);
    const key = resolver.keyOf(variable);
    if (key === undefined) return undefined;
    if (isNoTensorAt(variable, key, resolver)) return severed;
    const stored = this.options.storedIn(key).filter((one) => this.mayHold(reaching, one));
    if (reaching === undefined || (reaching.length === 1 && reaching[0] === atEntry)) {
      const entry = this.atEntry(variable, key, path);
      if (entry === undefined && stored.length === 0) return undefined;
      return this.withStored(entry ?? severed, stored, path);
    }
    const values = this.afterTensorTests(reaching, key).map((one) =>
      one === atEntry ? (this.atEntry(variable, key, path) ?? unknown) : this.ofDefinition(one, path),
    );
    return this.withStored(join(values), stored, path);
  }

  /** False where the container that gets the value is another object by the same name: `ys = torch.tensor(ys)` between them. */
  private mayHold(reaching: readonly Reaching[] | undefined, { holder }: StoredValue): boolean {
    const filled = this.options.flow.reaching(holder);
    if (reaching === undefined || filled === undefined || reaching.includes(atEntry)) return true;
    return filled.some((one) => one === atEntry || reaching.includes(one));
  }

  /** Without what a tensor test leaves over: `if isinstance(x, Tensor): x = x.item()`. */
  private afterTensorTests(reaching: readonly Reaching[], key: string): readonly Reaching[] {
    if (reaching.length < 2) return reaching;
    const tests = reaching.flatMap((one) =>
      one === atEntry ? [] : (tensorTestAround(one.node, key, this.options.resolver) ?? []),
    );
    if (tests.length === 0) return reaching;
    return reaching.filter((one) => one !== atEntry && tests.every(({ start }) => one.node.start >= start));
  }

  private withStored(value: Carried, stored: readonly StoredValue[], path: Path): Carried {
    if (stored.length === 0) return value;
    const [index, ...rest] = path;
    const fitting = stored.filter(
      ({ key }) => index === undefined || index === "*" || key === undefined || key === index,
    );
    const elements = fitting.map((one) => this.of(one.value, [...one.path, ...rest]));
    const result = join([value, ...elements]);
    return index === undefined ? { ...result, tensor: false, scalar: false } : result;
  }

  /** What the variable held when its function began. */
  private atEntry(variable: Expression, key: string, path: Path): Carried | undefined {
    const { flow, resolver } = this.options;
    if (variable.kind === "Name") {
      const bindings = resolver.scopes.lookup(variable);
      const parameter = bindings.find(({ kind }) => kind === "parameter");
      const owner = parameter?.scope.owner;
      if (parameter && owner?.kind === "FunctionDefinition") {
        if (resolver.roleOf(variable) !== undefined && resolver.roleOf(variable) !== "tensor") return severed;
        return ofParameter(owner, parameter.name, path);
      }
      if (
        bindings.length === 0 ||
        bindings.some(({ kind }) => kind === "import" || kind === "function" || kind === "class")
      ) {
        return severed;
      }
    }
    const elsewhere = flow.definitionsOf(key);
    if (elsewhere.length === 0) return undefined;
    return join(elsewhere.map((definition) => this.ofDefinition(definition, path)));
  }

  private ofDefinition(definition: Definition, path: Path): Carried {
    return openQuestions.remember(this.definitions, definition, path, this.findDefined);
  }

  private markProven(definition: Definition, value: Carried): Carried {
    const scalar = this.proven().get(definition);
    if (scalar === undefined) return value;
    if (value.graph === "yes")
      return { ...value, certainty: "resolved", tensor: true, scalar: value.scalar || scalar };
    if (definition.value === undefined || isNumber(definition.value)) return value;
    return { ...madeBy(definition.value, "resolved", true, scalar), parameters: value.parameters };
  }

  private definedValue(definition: Definition, path: Path): Carried {
    const { value, kind } = definition;
    if (kind === "augmented") {
      const before = this.options.flow
        .before(definition)
        .map((one) => this.ofReaching(one, definition, path));
      const taken = value ? this.of(value) : unknown;
      const all = operation(
        [...before, taken],
        [...before, taken].every(({ scalar, graph }) => graph !== "yes" || scalar),
      );
      return this.options.modes.lexicallyAt(definition.node) === "off" ? join(before) : all;
    }
    if (value === undefined) return unknown;
    if (kind === "iterate") return this.ofElement(value, [...definition.path, ...path]);
    if (kind === "with") return unknown;
    return kind === "assign" ? this.of(value, [...definition.path, ...path]) : unknown;
  }

  private ofReaching(one: Reaching, definition: Definition, path: Path): Carried {
    if (one !== atEntry) return this.ofDefinition(one, path);
    return this.atEntry(definition.target, definition.key, path) ?? unknown;
  }

  /** What a loop over `iterable` gives at `path`. */
  ofElement(iterable: Expression, path: Path): Carried {
    if (iterable.kind === "Call") {
      const name = this.options.resolver.qualifiedName(iterable.callee);
      const [first, ...rest] = path;
      if (name === "builtins.enumerate") {
        if (first === 0) return severed;
        return iterable.positional[0]
          ? this.ofElement(iterable.positional[0], first === 1 ? rest : path)
          : severed;
      }
      if (name === "builtins.zip" && typeof first === "number") {
        const argument = iterable.positional[first];
        return argument ? this.ofElement(argument, rest) : unknown;
      }
      if (name === "builtins.range") return severed;
      if (sameElements.has(name ?? "") && iterable.positional[0]) {
        return this.ofElement(iterable.positional[0], path);
      }
      if (iterable.callee.kind === "Attribute" && iterable.callee.attribute.id === "items") {
        return first === 0 ? severed : this.of(iterable.callee.object, ["*", ...rest]);
      }
      if (iterable.callee.kind === "Attribute" && iterable.callee.attribute.id === "values") {
        return this.of(iterable.callee.object, ["*", ...path]);
      }
    }
    if (this.options.resolver.roleOf(iterable) === "loader") return severed;
    return this.of(iterable, ["*", ...path]);
  }

  // --- Attributes and subscripts ----------------------------------------------------------------------------------

  private ofAttribute(attribute: Attribute, path: Path): Carried {
    const name = attribute.attribute.id;
    if (severingAttributes.has(name)) return severed;
    if (this.options.resolver.roleOf(attribute.object) !== undefined) return severed;
    if (graphKeepingAttributes.has(name)) return this.of(attribute.object, path);
    const value = this.of(attribute.object, [name, ...path]);
    return /^(loss|\w+_loss)$/.test(name) && value.graph === "yes"
      ? { ...value, tensor: true, scalar: true }
      : value;
  }

  private ofSubscript(subscript: Subscript, path: Path): Carried {
    const { index } = subscript;
    const step = index.kind === "Integer" ? index.value : index.kind === "String" ? index.value : undefined;
    // `graph.edata["h"]`, `batch.data["x"]`: a collection of that name, not the `.data` of a tensor.
    if (index.kind === "String" && isAttributeCalledData(subscript.object)) return unknown;
    if (index.kind === "UnaryOperation" || index.kind === "Slice") {
      const part = this.of(subscript.object, index.kind === "Slice" ? path : ["*", ...path]);
      return { ...part, scalar: false };
    }
    return this.of(subscript.object, [step ?? "*", ...path]);
  }

  // --- Backward as evidence ---------------------------------------------------------------------------------------

  proven(): ReadonlyMap<Definition, boolean> {
    if (this.provenByBackward) return this.provenByBackward;
    const proven = new Map<Definition, boolean>();
    this.provenByBackward = proven;
    for (const backward of this.options.backwards) {
      for (const value of backward.values) {
        const leaf = scaledLeaf(value);
        if (leaf.kind !== "Name" && leaf.kind !== "Attribute") continue;
        for (const one of this.options.flow.reaching(leaf) ?? []) {
          if (one !== atEntry && one.kind !== "augmented" && isOneValue(one)) {
            proven.set(
              one,
              (proven.get(one) ?? false) || (backward.scalar && leaf === value) || backward.scalar,
            );
          }
        }
      }
    }
    return proven;
  }
}

/** What gives the elements of its argument, in whatever order: of `losses.items()` pairs, of a dictionary its keys. */
const sameElements = new Set([
  "builtins.list",
  "builtins.tuple",
  "builtins.sorted",
  "builtins.reversed",
  "builtins.iter",
]);

function isAttributeCalledData(expression: Expression): boolean {
  return expression.kind === "Attribute" && expression.attribute.id === "data";
}

/** Not a starting value such as `loss = 0`, whose variable is backwarded after something was added. */
function isOneValue(definition: Definition): boolean {
  const { value, kind } = definition;
  if (value === undefined || (kind !== "assign" && kind !== "iterate")) return false;
  return (
    value.kind === "Call" ||
    value.kind === "BinaryOperation" ||
    value.kind === "Attribute" ||
    value.kind === "Subscript"
  );
}
