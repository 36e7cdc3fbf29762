/**
 * Numbers and flags of a script as it runs with the command line that the header gives, else without any: literals, names,
 * arguments of argparse and absl flags, fields of configuration classes and dictionaries, parameters whose callers agree.
 */
import { readCommandLine } from "../../python/command-line";
import { declaredOption, declaringNames, destinationOf, givenValue } from "../../python/command-options";
import type { DeclaredOption } from "../../python/command-options";
import { lastName } from "../../python/last-name";
import { foldConstant, type ConstantValue } from "../../python/constant";
import type {
  Attribute,
  Call,
  ClassDefinition,
  Dict,
  Expression,
  FunctionDefinition,
  Name,
  Span,
  Statement,
  Subscript,
} from "../../python/tree";
import type { Resolver } from "../resolve";

const maximalDepth = 12;

export type Constant = number | boolean | string | null;

/** A call that runs a function of another file, and what the calling file says of its arguments. */
export interface Caller {
  readonly call: Call;
  readonly target: FunctionDefinition;
  readonly constants: Constants;
}

export class Constants {
  private argumentDefaults: ReadonlyMap<string, readonly (Constant | undefined)[]> | undefined;
  private replaced: ReadonlySet<string> | "any" | undefined;

  /**
   * `caller`: for a file that is not the script itself, the call of another file that runs one of its functions.
   * `commandLine`: the words that the script is started with.
   */
  constructor(
    private readonly resolver: Resolver,
    private readonly caller?: Caller,
    private readonly commandLine: readonly string[] = [],
  ) {}

  /** The value when the script alone says so; `undefined` otherwise. `None` is `null`. */
  valueOf(expression: Expression | undefined): Constant | undefined {
    return expression === undefined ? undefined : this.value(expression, 0);
  }

  numberOf(expression: Expression | undefined): number | undefined {
    const value = this.valueOf(expression);
    return typeof value === "number" ? value : undefined;
  }

  /** A positive integer: what batch sizes and accumulation steps are. */
  countOf(expression: Expression | undefined): number | undefined {
    const value = this.numberOf(expression);
    return value !== undefined && Number.isInteger(value) && value > 0 ? value : undefined;
  }

  /** The number itself, or what a name that is bound once was given: `BATCH = 32` of `batch_size=BATCH`. */
  literalOf(expression: Expression): Span | undefined {
    if (expression.kind === "Integer") return expression;
    if (expression.kind !== "Name") return undefined;
    const [binding, other] = this.resolver.scopes.lookup(expression);
    if (binding?.kind !== "assignment" || other !== undefined || binding.path.length > 0) return undefined;
    return binding.value?.kind === "Integer" ? binding.value : undefined;
  }

  /** `f(name=value)` or the same inside `**settings` with a dictionary of this file. */
  argument(call: Call, name: string, position?: number): Expression | undefined {
    const given = call.keywords.find((keyword) => keyword.name.id === name)?.value;
    if (given !== undefined) return given;
    if (
      position !== undefined &&
      !call.positional.slice(0, position + 1).some(({ kind }) => kind === "Starred")
    ) {
      const positional = call.positional[position];
      if (positional !== undefined) return positional;
    }
    for (const spread of call.keywordSpreads) {
      const entry = this.entryOf(spread, name);
      if (entry !== undefined) return entry;
    }
    return undefined;
  }

  /** True when a call spreads something whose keys cannot be seen. */
  hidesArguments(call: Call): boolean {
    return (
      call.positional.some(({ kind }) => kind === "Starred") ||
      call.keywordSpreads.some((spread) => this.dictOf(spread) === undefined)
    );
  }

  private value(expression: Expression, depth: number): Constant | undefined {
    if (depth > maximalDepth) return undefined;
    const folded = plain(foldConstant(expression, this.resolver.scopes));
    if (folded !== undefined) return folded;
    switch (expression.kind) {
      case "Name":
        return this.valueOfName(expression, depth + 1);
      case "Attribute":
        return this.valueOfAttribute(expression, depth + 1);
      case "Subscript":
        return this.valueOfSubscript(expression, depth + 1);
      case "Call":
        return this.valueOfCall(expression, depth + 1);
      case "BinaryOperation":
        return arithmetic(
          expression.operator,
          this.value(expression.left, depth + 1),
          this.value(expression.right, depth + 1),
        );
      case "UnaryOperation": {
        const operand = this.value(expression.operand, depth + 1);
        if (expression.operator === "not") return operand === undefined ? undefined : !operand;
        return expression.operator === "-" && typeof operand === "number" ? -operand : undefined;
      }
      case "Conditional": {
        const test = this.value(expression.test, depth + 1);
        return test === undefined
          ? undefined
          : this.value(test ? expression.body : expression.orelse, depth + 1);
      }
      default:
        return undefined;
    }
  }

  private valueOfName(name: Name, depth: number): Constant | undefined {
    const bindings = this.resolver.scopes.lookup(name);
    const [binding, other] = bindings;
    if (binding === undefined || other !== undefined) return undefined;
    if (binding.kind === "assignment" && binding.value !== undefined && binding.path.length === 0) {
      return this.value(binding.value, depth);
    }
    if (binding.kind !== "parameter" || binding.scope.owner.kind !== "FunctionDefinition") return undefined;
    const target = binding.scope.owner;
    const fromOutside = this.valueFromCaller(target, name.id);
    if (fromOutside !== undefined) return fromOutside;
    const calls = this.callsOf(target);
    const values = calls.map((call) => {
      const argument = this.resolver.argumentFor(call, target, name.id) ?? binding.parameter?.default;
      return argument === undefined ? undefined : this.value(argument, depth);
    });
    if (values.length > 0) return agreed(values);
    const fallback = binding.parameter?.default;
    return fallback === undefined
      ? this.optionDefault(target.decorators, name.id)
      : this.value(fallback, depth);
  }

  private valueFromCaller(target: FunctionDefinition, parameter: string): Constant | undefined {
    const { caller } = this;
    if (caller?.target !== target) return undefined;
    return caller.constants.valueOf(this.resolver.argumentFor(caller.call, target, parameter));
  }

  private callsOf(target: FunctionDefinition): readonly Call[] {
    const owner = this.resolver.enclosingClass(target);
    if (owner !== undefined && target.name.id === "__init__") {
      return this.resolver.index.calls.filter((call) => this.resolver.constructedClass(call) === owner);
    }
    return this.resolver.sureCallsTo(target);
  }

  /** `@click.option("--batch-size", default=32)` above the function whose parameter is meant. */
  private optionDefault(
    decorators: readonly { readonly expression: Expression }[],
    parameter: string,
  ): Constant | undefined {
    const calls = decorators.flatMap(({ expression }) =>
      expression.kind === "Call" && isOption(expression) ? [expression] : [],
    );
    const options = calls.flatMap((call) => declaredOption(call) ?? []);
    const option = options.find(({ names }) => names.some((name) => destinationOf([name]) === parameter));
    if (option === undefined) return undefined;
    const given = readCommandLine(this.commandLine, options).given.get(option);
    if (given !== undefined) return givenValue(option, given);
    const fallback = option.call.keywords.find(({ name }) => name.id === "default")?.value;
    return fallback === undefined ? undefined : plain(foldConstant(fallback, this.resolver.scopes));
  }

  private valueOfAttribute(attribute: Attribute, depth: number): Constant | undefined {
    const field = attribute.attribute.id;
    const owner = this.resolver.classOf(attribute.object) ?? this.classNamed(attribute.object);
    if (owner !== undefined) return this.fieldOf(owner, attribute, field, depth);
    const [stored, other] = this.resolver.valuesOf(attribute);
    if (stored !== undefined) return other === undefined ? this.value(stored, depth) : undefined;
    const entry = this.entryOf(attribute.object, field);
    if (entry !== undefined) return this.value(entry, depth);
    if (this.isAssignedElsewhere(attribute) || this.isSettings(attribute.object)) return undefined;
    return this.argumentNamed(field);
  }

  /** The default of the script's argument of this name; of a file that is not the script, that of its caller's. */
  private argumentNamed(field: string): Constant | undefined {
    this.replaced ??= replacedArguments(this.resolver);
    if (this.replaced === "any" || this.replaced.has(field)) return undefined;
    const own = this.defaultsOfArguments().get(field);
    if (own !== undefined) return agreed(own);
    const { caller } = this;
    return caller === undefined || caller.constants.stores(field)
      ? undefined
      : caller.constants.argumentNamed(field);
  }

  /** Something's attribute of this name is assigned to in the file. */
  private stores(field: string): boolean {
    return this.resolver.index.attributeStores.some(
      ({ target }) => target.kind === "Attribute" && target.attribute.id === field,
    );
  }

  /** A field of a configuration class: what the constructor is given, what is stored, or the class's default. */
  private fieldOf(
    owner: ClassDefinition,
    attribute: Attribute,
    field: string,
    depth: number,
  ): Constant | undefined {
    const given = this.resolver
      .valuesOf(attribute.object)
      .map((value) =>
        value.kind === "Call" ? value.keywords.find(({ name }) => name.id === field)?.value : undefined,
      );
    const [only] = given;
    if (given.length === 1 && only !== undefined) return this.value(only, depth);
    const values = this.resolver.valuesOf(attribute);
    const [value] = values;
    if (values.length === 1 && value !== undefined) return this.value(value, depth);
    if (values.length > 1) return undefined;
    const fallback = owner.body.flatMap((statement) => fieldDefault(statement, field)).at(-1);
    return fallback === undefined ? undefined : this.value(fallback, depth);
  }

  private classNamed(expression: Expression): ClassDefinition | undefined {
    if (expression.kind !== "Name") return undefined;
    const [binding, other] = this.resolver.scopes.lookup(expression);
    return other === undefined && binding?.node.kind === "ClassDefinition" ? binding.node : undefined;
  }

  /** Something that is read from a file or made of a dictionary that is: not what a parser gives. */
  private isSettings(object: Expression): boolean {
    if (object.kind !== "Name" && object.kind !== "Attribute") return false;
    return this.resolver
      .valuesOf(object)
      .some(
        (value) =>
          value.kind === "Call" && settingsMakers.test(this.resolver.qualifiedName(value.callee) ?? ""),
      );
  }

  /** `args.batch_size = …` somewhere: the default is not what runs. */
  private isAssignedElsewhere(attribute: Attribute): boolean {
    const { object } = attribute;
    if (object.kind !== "Name") return false;
    return this.resolver.index.attributeStores.some(
      ({ target }) =>
        target.kind === "Attribute" &&
        target.attribute.id === attribute.attribute.id &&
        target.object.kind === "Name" &&
        target.object.id === object.id,
    );
  }

  private valueOfSubscript(subscript: Subscript, depth: number): Constant | undefined {
    if (subscript.index.kind !== "String" || subscript.index.value === undefined) return undefined;
    const entry = this.entryOf(subscript.object, subscript.index.value);
    return entry === undefined ? undefined : this.value(entry, depth);
  }

  private valueOfCall(call: Call, depth: number): Constant | undefined {
    const [first, second] = call.positional;
    if (call.callee.kind === "Attribute" && call.callee.attribute.id === "get" && first?.kind === "String") {
      const entry = first.value === undefined ? undefined : this.entryOf(call.callee.object, first.value);
      const known = this.dictOf(call.callee.object) !== undefined;
      const chosen = entry ?? (known ? second : undefined);
      return chosen === undefined ? undefined : this.value(chosen, depth);
    }
    const name = this.resolver.qualifiedName(call.callee);
    if (
      first === undefined ||
      (name !== "builtins.int" && name !== "builtins.float" && name !== "builtins.bool")
    ) {
      return undefined;
    }
    const value = this.value(first, depth);
    if (name === "builtins.bool") return value === undefined ? undefined : Boolean(value);
    if (typeof value !== "number") return undefined;
    return name === "builtins.int" ? Math.trunc(value) : value;
  }

  /** The value under a key of a dictionary display, `dict(key=…)`, `Namespace(key=…)` bound to a name. */
  private entryOf(expression: Expression, key: string): Expression | undefined {
    const dict = this.dictOf(expression);
    if (dict === undefined) return undefined;
    if (dict.kind === "Call") return dict.keywords.find(({ name }) => name.id === key)?.value;
    return dict.entries.findLast((entry) => entry.key?.kind === "String" && entry.key.value === key)?.value;
  }

  private dictOf(expression: Expression): Dict | Call | undefined {
    const values =
      expression.kind === "Name" || expression.kind === "Attribute"
        ? this.resolver.valuesOf(expression)
        : [expression];
    const [only, other] = values;
    if (other !== undefined || only === undefined) return undefined;
    if (only.kind === "Dict") return only;
    if (only.kind !== "Call") return undefined;
    const [inner] = only.positional;
    if (inner?.kind === "Dict") return isMapping(only) ? inner : undefined;
    return isMapping(only) && only.positional.length === 0 ? only : undefined;
  }

  private defaultsOfArguments(): ReadonlyMap<string, readonly (Constant | undefined)[]> {
    this.argumentDefaults ??= this.collectDefaults();
    return this.argumentDefaults;
  }

  /**
   * `parser.add_argument("--batch-size", default=64)`, `flags.DEFINE_integer("batch_size", 64, "…")`: what the command line
   * gives, else the default.
   */
  private collectDefaults(): ReadonlyMap<string, readonly (Constant | undefined)[]> {
    const values = new Map<string, (Constant | undefined)[]>();
    const { callsByName } = this.resolver.index;
    const options = declaringNames.flatMap((name) =>
      (callsByName.get(name) ?? []).flatMap((call) => declaredOption(call) ?? []),
    );
    const { given } = readCommandLine(this.commandLine, options);
    for (const option of options) {
      const words = given.get(option);
      const value = words === undefined ? this.defaultOf(option) : givenValue(option, words);
      const known = values.get(option.destination);
      if (known === undefined) values.set(option.destination, [value]);
      else known.push(value);
    }
    return values;
  }

  private defaultOf({ call }: DeclaredOption): Constant | undefined {
    if (lastName(call.callee) === "add_argument") return this.argumentDefault(call);
    const value = call.positional[1];
    return value === undefined ? undefined : plain(foldConstant(value, this.resolver.scopes));
  }

  private argumentDefault(call: Call): Constant | undefined {
    const keyword = (name: string): Expression | undefined =>
      call.keywords.find((argument) => argument.name.id === name)?.value;
    const given = keyword("default");
    const isNeeded = keyword("required");
    if (isNeeded?.kind === "Boolean" && isNeeded.value) return undefined;
    if (given === undefined) {
      const action = keyword("action");
      if (action?.kind === "String" && action.value === "store_true") return false;
      if (action?.kind === "String" && action.value === "store_false") return true;
      const required = keyword("required");
      const isOptional =
        call.positional[0]?.kind === "String" && call.positional[0].value?.startsWith("-") === true;
      return isOptional && action === undefined && required === undefined ? null : undefined;
    }
    const value = plain(foldConstant(given, this.resolver.scopes));
    const type = keyword("type");
    const isNumber = type?.kind === "Name" && (type.id === "int" || type.id === "float");
    // argparse passes a default that is a string through `type`.
    return isNumber && typeof value === "string" && value.trim() !== "" && !Number.isNaN(Number(value))
      ? Number(value)
      : value;
  }
}

/**
 * Arguments that the file fills from elsewhere: `vars(args).update(settings)`, `setattr(args, key, value)`,
 * `parser.set_defaults(**settings)`, `parser.parse_args(words)`. Neither defaults nor the command line say what they are.
 */
function replacedArguments({ index: { callsByName } }: Resolver): ReadonlySet<string> | "any" {
  const calls = (name: string): readonly Call[] => callsByName.get(name) ?? [];
  const fields = new Set<string>();
  for (const { positional, keywords } of [...calls("parse_args"), ...calls("parse_known_args")]) {
    const words = positional[0] ?? keywords.find(({ name }) => name.id === "args")?.value;
    if (words !== undefined && words.kind !== "None" && !isOwnCommandLine(words)) return "any";
  }
  if (calls("update").some(updatesArguments)) return "any";
  for (const { positional } of calls("setattr")) {
    const [object, name] = positional;
    if (object === undefined || isSelf(object)) continue;
    if (name?.kind !== "String" || name.value === undefined) return "any";
    fields.add(name.value);
  }
  for (const { keywords, keywordSpreads } of calls("set_defaults")) {
    if (keywordSpreads.length > 0) return "any";
    for (const { name } of keywords) fields.add(name.id);
  }
  return fields;
}

/** `sys.argv[1:]`. */
function isOwnCommandLine(words: Expression): boolean {
  return words.kind === "Subscript" && lastName(words.object) === "argv";
}

/** `vars(args).update(…)`, `args.__dict__.update(…)`. */
function updatesArguments({ callee }: Call): boolean {
  if (callee.kind !== "Attribute") return false;
  const { object } = callee;
  if (object.kind === "Call") {
    const [of] = object.positional;
    return lastName(object.callee) === "vars" && of !== undefined && !isSelf(of);
  }
  return object.kind === "Attribute" && object.attribute.id === "__dict__" && !isSelf(object.object);
}

function isSelf(expression: Expression): boolean {
  return expression.kind === "Name" && expression.id === "self";
}

const settingsMakers =
  /^(yaml|json|omegaconf|easydict|munch|addict|attrdict|yacs)\.|^(argparse\.Namespace|types\.SimpleNamespace)$/;

function isOption({ callee }: Call): boolean {
  return callee.kind === "Attribute"
    ? callee.attribute.id === "option"
    : callee.kind === "Name" && callee.id === "option";
}

function isMapping({ callee }: Call): boolean {
  const name = lastName(callee) ?? "";
  return /^(dict|Namespace|SimpleNamespace|edict|EasyDict|AttrDict|DotDict|Munch|create|ConfigDict|OrderedDict|Box)$/.test(
    name,
  );
}

function fieldDefault(statement: Statement, field: string): Expression[] {
  if (statement.kind === "AnnotatedAssign") {
    const named = statement.target.kind === "Name" && statement.target.id === field;
    return named && statement.value !== undefined ? [unwrapField(statement.value)] : [];
  }
  if (statement.kind !== "Assign") return [];
  return statement.targets.some((target) => target.kind === "Name" && target.id === field)
    ? [statement.value]
    : [];
}

/** `field(default=8)` of a dataclass. */
function unwrapField(value: Expression): Expression {
  if (value.kind !== "Call") return value;
  return value.keywords.find(({ name }) => name.id === "default")?.value ?? value;
}

function plain(value: ConstantValue | undefined): Constant | undefined {
  switch (value?.kind) {
    case "integer":
    case "float":
    case "string":
    case "boolean":
      return value.value;
    case "none":
      return null;
    default:
      return undefined;
  }
}

/** The value on which all agree. */
function agreed(values: readonly (Constant | undefined)[]): Constant | undefined {
  const [first] = values;
  return values.every((value) => value === first) ? first : undefined;
}

function arithmetic(
  operator: string,
  left: Constant | undefined,
  right: Constant | undefined,
): number | undefined {
  if (typeof left !== "number" || typeof right !== "number") return undefined;
  switch (operator) {
    case "+":
      return left + right;
    case "-":
      return left - right;
    case "*":
      return left * right;
    case "/":
      return right === 0 ? undefined : left / right;
    case "//":
      return right === 0 ? undefined : Math.floor(left / right);
    case "**":
      return left ** right;
    default:
      return undefined;
  }
}
