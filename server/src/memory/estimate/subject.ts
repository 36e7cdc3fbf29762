/** Which model an estimate is about, and building it. */
import { message, type Message } from "../../messages/message";
import { unknownReasons } from "../../messages/estimate";
import type { Call, Expression, Module, Node, Parameter, Span } from "../../python/tree";
import { childrenOf } from "../../python/walk";
import type { ModelPlace } from "../estimate";
import { plainSpan } from "./spans";
import { CallArguments } from "../evaluate/arguments";
import { unwrapped } from "../evaluate/nn/state";
import type { Program } from "../evaluate/program";
import { ClassValue, FunctionValue, ObjectValue, type Value } from "../evaluate/values";
import type { SettingOrigin, TrainingSetup } from "../setup";
import { isUnknown } from "../unknown";

/** How to make the model of an estimate. */
export interface Subject {
  readonly span: Span;
  /** Where the choice came from; `default` when nothing said which model is trained. */
  readonly from: SettingOrigin;
  readonly text: string;
  /** The class that is instantiated, where the expression says so. */
  readonly className?: string | undefined;
  /** Where it is made without arguments of a class of the file, or of nothing but such objects: `Net()`, `Net(Config())`. */
  readonly defaultCall?: string | undefined;
  build(program: Program): Value;
}

/** The subject's model; a message when it cannot be built. */
export function buildModel(
  program: Program,
  subject: Subject,
): ObjectValue | { readonly reason: Message; readonly span: Span | undefined } {
  let value = subject.build(program);
  if (value instanceof ClassValue) value = program.instantiate(value, subject.span);
  else if (value instanceof FunctionValue) value = program.call(value, new CallArguments([]));
  if (value instanceof ObjectValue && value.module !== undefined) value = unwrapped(value);
  if (value instanceof ObjectValue && value.module !== undefined) return value;
  if (isUnknown(value)) return { reason: value.reason, span: value.span };
  return { reason: message(unknownReasons.notModule, { name: subject.text }), span: subject.span };
}

/** Where the file says what was built. */
export function placeOf(subject: Subject, model: ObjectValue): ModelPlace {
  const node = model.type.find((type) => (type.isImported ? undefined : type.node));
  return { span: plainSpan(subject.span), classSpan: plainSpan(node?.name) };
}

/** The name of a class definition, as the place of its estimate. */
function nameSpan(type: ClassValue): Span {
  const node = type.node;
  return node === undefined ? { start: 0, end: 0 } : { start: node.name.start, end: node.name.end };
}

/** The first parameter without a default of a class's own constructor. */
export function requiredArgument(program: Program, name: string): string | undefined {
  const type = program.moduleClasses().find((one) => one.name === name)?.type;
  const init = type?.attribute("__init__");
  if (!(init instanceof FunctionValue)) return undefined;
  return neededParameters(init)[0]?.name.id;
}

/** The parameters of a method that have to be given: those behind the receiver without a default. */
export function neededParameters({ node }: FunctionValue): readonly Parameter[] {
  return node.parameters
    .slice(1)
    .filter(
      ({ default: otherwise, parameterKind }) =>
        otherwise === undefined && parameterKind !== "args" && parameterKind !== "kwargs",
    );
}

/** The class `name`, built from its defaults. */
export function classSubject(program: Program, name: string, from: SettingOrigin): Subject | undefined {
  const found = program.moduleClasses().find((one) => one.name === name);
  if (found === undefined) return undefined;
  const span = nameSpan(found.type);
  return {
    span,
    from,
    text: name,
    className: name,
    defaultCall: `${name}()`,
    build(each) {
      const type = each.moduleClasses().find((one) => one.name === name)?.type;
      return type === undefined ? null : each.instantiate(type, span);
    },
  };
}

/**
 * The model that is trained: what the header or the script names, else the only module class of the file that the script
 * instantiates, else the last one that can be built without arguments.
 */
export function trainedSubject(program: Program, module: Module, setup: TrainingSetup): Subject | undefined {
  const setting = setup.model;
  if (setting !== undefined) {
    const { expression, text, way } = setting.value;
    const span = setting.span ?? classSpan(program, expression) ?? { start: 0, end: 0 };
    const inFile = setting.from === "script" && expression.parent !== undefined;
    return {
      span,
      from: setting.from,
      text,
      className: expression.kind === "Call" ? nameOf(expression) || undefined : undefined,
      defaultCall: defaultCall(program, expression),
      build: (each) =>
        inFile ? each.evaluateInPlace(expression, way) : each.evaluate(expression, setting.span),
    };
  }
  const classes = program.moduleClasses();
  const calls = instantiations(module, new Set(classes.map((one) => one.name)));
  const names = new Set(calls.map((call) => nameOf(call)));
  const [call] = calls;
  if (call !== undefined && names.size === 1) {
    return {
      span: { start: call.start, end: call.end },
      from: "script",
      text: nameOf(call),
      className: nameOf(call),
      defaultCall: defaultCall(program, call),
      build: (each) => each.evaluateInPlace(call),
    };
  }
  const last =
    classes.findLast(({ name }) => requiredArgument(program, name) === undefined) ?? classes.at(-1);
  return last === undefined ? undefined : classSubject(program, last.name, "default");
}

/** Where the class stands that an expression from outside of the file names or calls. */
function classSpan(program: Program, expression: Expression): Span | undefined {
  const name = expression.kind === "Name" ? expression.id : expression.kind === "Call" && nameOf(expression);
  const found = program.moduleClasses().find((one) => one.name === name);
  return found && nameSpan(found.type);
}

/** As `Subject` has it. */
function defaultCall(program: Program, expression: Expression): string | undefined {
  if (expression.kind !== "Call" || expression.keywords.length + expression.keywordSpreads.length > 0)
    return undefined;
  const name = nameOf(expression);
  if (!(program.global(name) instanceof ClassValue)) return undefined;
  const parts = expression.positional.map((part) => defaultCall(program, part));
  return parts.every((part) => part !== undefined) ? `${name}(${parts.join(", ")})` : undefined;
}

function nameOf(call: Call): string {
  return call.callee.kind === "Name" ? call.callee.id : "";
}

/** Calls of the file's module classes outside of classes: what the script itself instantiates. */
export function instantiations(module: Module, names: ReadonlySet<string>): Call[] {
  const found: Call[] = [];
  const pending: Node[] = [...module.body].reverse();
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (node.kind === "ClassDefinition") continue;
    if (node.kind === "Call" && names.has(nameOf(node))) found.push(node);
    pending.push(...childrenOf(node).reverse());
  }
  return found;
}
