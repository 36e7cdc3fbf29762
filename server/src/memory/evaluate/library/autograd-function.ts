/**
 * `torch.autograd.Function`: the user's forward runs without a graph and makes one node, the user's backward runs when
 * the engine gets there (torch/autograd/function.py, torch/csrc/autograd/python_function.cpp).
 */
import type { Frame as OperatorFrame } from "../../operators/frame";
import { canRequireGrad, Tensor } from "../../tensor";
import { isUnknown } from "../../unknown";
import { CallArguments } from "../arguments";
import { findAttribute } from "../attributes";
import { runOperator } from "../bridge";
import type { Interpreter } from "../interpreter";
import {
  ClassValue,
  Heap,
  ListValue,
  MethodWrapper,
  NativeFunction,
  ObjectValue,
  TupleValue,
  type Native,
  type Value,
} from "../values";
import type { Span } from "../../../python/tree";

/** `ctx`: it lives as long as the node, with all attributes that the forward has set on it. */
class FunctionContext extends ObjectValue {
  /** What `save_for_backward` was given, until the node has taken it over. */
  toSave: readonly Value[] = [];
  /** Tensors that have no gradient although they could. */
  readonly notDifferentiable = new Set<Value>();
  /** Gradients that nobody gives are zeros. */
  materializes = true;

  override *held(): Iterable<Value> {
    yield* super.held();
    yield* this.toSave;
  }
}

function contextMethod(run: (context: FunctionContext, given: CallArguments) => void): NativeFunction {
  return new NativeFunction("ctx", (interpreter, args) => {
    const context = args.at(0);
    const given = args.withoutFirst();
    const unknown = given.unknown();
    if (unknown !== undefined) interpreter.note(unknown);
    if (context instanceof FunctionContext) run(context, given);
    return null;
  });
}

function contextClass(): ClassValue {
  const type = new ClassValue("FunctionCtx", []);
  const nothing = contextMethod(() => undefined);
  const methods: Readonly<Record<string, NativeFunction>> = {
    mark_dirty: nothing,
    save_for_forward: nothing,
    mark_non_differentiable: contextMethod((context, given) => {
      for (const value of given.positional) context.notDifferentiable.add(value);
    }),
    set_materialize_grads: contextMethod((context, given) => {
      context.materializes = given.at(0) !== false;
    }),
    save_for_backward: new NativeFunction("save_for_backward", (interpreter, args) => {
      const context = args.at(0);
      if (!(context instanceof FunctionContext)) return null;
      const before = context.toSave;
      for (const value of args.positional.slice(1)) {
        if (isUnknown(value)) interpreter.note(value);
        interpreter.references.adopt(context, value);
      }
      context.toSave = args.positional.slice(1);
      for (const value of before) interpreter.references.disown(context, value);
      return null;
    }),
  };
  for (const [name, method] of Object.entries(methods)) type.attributes.set(name, method);
  return type;
}

const contextType = contextClass();

/** `Function.apply(*args)`. */
const apply: Native = (interpreter, args, span) => {
  const [type, ...given] = args.positional;
  if (!(type instanceof ClassValue)) return args.unknown() ?? null;
  const { execution } = interpreter;
  const inputs = given.map((value) => (value instanceof Tensor ? value : undefined));
  const needsGraph = execution.needsGraph(inputs);
  const ctx = interpreter.references.keep(new FunctionContext(contextType));
  const needed = inputs.map((input) => needsGraph && input?.requiresGrad === true);
  setAttribute(interpreter, ctx, "needs_input_grad", new TupleValue(needed));
  execution.pushGradMode(false);
  const made = runForward(interpreter, type, ctx, given, span);
  execution.popGradMode();
  if (isUnknown(made)) return interpreter.note(made);
  const result = ownOutputs(interpreter, made, given, span);
  if (holdsHeap(ctx)) interpreter.keptInGraph = true;
  if (needsGraph) attachNode(interpreter, type, ctx, inputs, result, span);
  return result;
};

/** Whether attributes may hold tensors: they live until the loss of the next iteration replaces this one. */
function holdsHeap(ctx: FunctionContext): boolean {
  return [...ctx.attributes].some(
    ([name, value]) => name !== "needs_input_grad" && (value instanceof Tensor || value instanceof Heap),
  );
}

function runForward(
  interpreter: Interpreter,
  type: ClassValue,
  ctx: FunctionContext,
  given: readonly Value[],
  span: Span | undefined,
): Value {
  const forward = findAttribute(interpreter, type, "forward", span);
  const setup = type.attribute("setup_context");
  if (forward === undefined) return interpreter.unknown("call", span, { name: `${type.name}.apply` });
  if (setup === undefined) return interpreter.call(forward, new CallArguments([ctx, ...given]), span);
  const made = interpreter.call(forward, new CallArguments(given), span);
  const values = [ctx, new TupleValue(given), made];
  const answer = interpreter.call(setup, new CallArguments(values), span);
  return isUnknown(answer) ? answer : made;
}

function setAttribute(interpreter: Interpreter, ctx: ObjectValue, name: string, value: Value): void {
  const before = ctx.attributes.get(name);
  interpreter.references.adopt(ctx, value);
  ctx.attributes.set(name, value);
  if (before !== undefined) interpreter.references.disown(ctx, before);
}

/** An input that comes out again is another tensor on its storage. */
function ownOutputs(
  interpreter: Interpreter,
  made: Value,
  given: readonly Value[],
  span: Span | undefined,
): Value {
  const own = (value: Value): Value =>
    value instanceof Tensor && given.includes(value)
      ? runOperator(interpreter, "Tensor.detach", new CallArguments([value]), span)
      : value;
  if (made instanceof TupleValue && made.items.some((item) => given.includes(item)))
    return interpreter.references.keep(new TupleValue(made.items.map(own)));
  return own(made);
}

function outputsOf(result: Value): (Tensor | undefined)[] {
  const items = result instanceof TupleValue || result instanceof ListValue ? result.items : [result];
  return items.map((item) => (item instanceof Tensor ? item : undefined));
}

function attachNode(
  interpreter: Interpreter,
  type: ClassValue,
  ctx: FunctionContext,
  inputs: readonly (Tensor | undefined)[],
  result: Value,
  span: Span | undefined,
): void {
  const { execution, references } = interpreter;
  const outputs = outputsOf(result).map((output) =>
    output === undefined || ctx.notDifferentiable.has(output) || !canRequireGrad(output.dtype)
      ? undefined
      : output,
  );
  const saved = ctx.toSave.map((value) => (value instanceof Tensor ? value : undefined));
  references.retain(ctx);
  execution.attachFunction({
    name: `${type.name}Backward`,
    location:
      span === undefined || interpreter.isHidden ? interpreter.location : { ...interpreter.location, span },
    inputs,
    outputs,
    saved,
    backward: (frame, gradients, kept) =>
      runUserBackward(interpreter, { type, ctx, outputs, span }, frame, gradients, kept),
    dropped: () => references.release(ctx),
  });
  for (const value of ctx.toSave) references.disown(ctx, value);
  ctx.toSave = [];
}

interface Called {
  readonly type: ClassValue;
  readonly ctx: FunctionContext;
  readonly outputs: readonly (Tensor | undefined)[];
  readonly span: Span | undefined;
}

function runUserBackward(
  interpreter: Interpreter,
  { type, ctx, outputs, span }: Called,
  frame: OperatorFrame,
  gradients: readonly (Tensor | undefined)[],
  saved: readonly (Tensor | undefined)[],
): (Tensor | undefined)[] {
  const { execution, references } = interpreter;
  const given = outputs.map((output, i): Value => {
    const gradient = gradients[i];
    if (gradient !== undefined) return gradient;
    return output === undefined || !ctx.materializes ? null : frame.empty(output.shape, output.dtype);
  });
  const backward = findAttribute(interpreter, type, "backward", span);
  if (backward === undefined) {
    interpreter.note(interpreter.unknown("call", span, { name: `${type.name}.backward` }));
    return [];
  }
  const mark = references.mark();
  const outer = interpreter.callSpan;
  interpreter.callSpan = span;
  const kept = new TupleValue(saved.map((tensor) => tensor ?? null));
  for (const name of ["saved_tensors", "saved_variables"]) setAttribute(interpreter, ctx, name, kept);
  const answer = execution.inUserBackward(() =>
    interpreter.call(backward, new CallArguments([ctx, ...given]), span),
  );
  for (const name of ["saved_tensors", "saved_variables"]) setAttribute(interpreter, ctx, name, null);
  if (isUnknown(answer)) interpreter.note(answer);
  const results = outputsOf(answer);
  for (const result of results) {
    if (result === undefined) continue;
    execution.holdTensor(result);
    frame.own(result);
  }
  references.releaseTo(mark);
  interpreter.callSpan = outer;
  return results;
}

export function functionClass(name: string): ClassValue {
  const type = new ClassValue(name, []);
  type.path = `torch.autograd.${name}`;
  type.attributes.set("apply", new MethodWrapper("class", new NativeFunction("apply", apply)));
  return type;
}
