/** What one call or assignment does to gradients. */
import { keyword } from "../../python/keyword";
import { dottedPath, walk } from "../../python/walk";
import type { Attribute, Call, ClassDefinition, Expression, Node, Statement } from "../../python/tree";
import { frameworks, type FrameworkFacts } from "../frameworks";
import type { Certainty, Resolver } from "../resolve";
import type { EventKind, TraceEvent } from "./event";

/** An event that has not been placed yet. */
export type Happening = Omit<TraceEvent, "places" | "statement">;

export interface Tools {
  readonly resolver: Resolver;
  readonly frameworkFacts: FrameworkFacts;
}

const optimizerName = /(^|_)(optim(izer)?|opt)s?(_|\d|$)|optim(izer)?s?$/i;
const schedulerName = /sched/i;
const frameworkName = /accelerator|fabric|engine|strategy|scaler|booster/i;
const caretakerName = /callback|hook|handler|strategy|engine|plugin|trainer/i;

const clipFunctions =
  /^torch\.nn\.utils\.(clip_grad\.)?clip_grads?_?(norm|value|with_norm)?_?$|\.clip_grad_norm_?$|\.dispatch_clip_grad$/;
const gradientHooks: ReadonlySet<string> = new Set([
  "register_post_accumulate_grad_hook",
  "register_hook",
  "register_full_backward_hook",
  "register_multi_grad_hook",
  "register_comm_hook",
]);
const scalingFunctions = /^torch\._foreach_(mul|div)_$|(^|\.)scale_grads_?$/;

/** Packages whose functions neither zero nor step: they may be given a model or an optimizer. */
const harmlessPackages =
  /^(torch|apex|builtins|collections|itertools|random|numpy|wandb|tqdm|logging|copy|os|math|time|json|torchinfo|torchsummary|thop|fvcore|ema_pytorch|timm\.utils\.(ModelEma\w*|\w*accuracy\w*)|torch_ema|accelerate|transformers|peft|diffusers|safetensors|mlflow|matplotlib|functools|contextlib|warnings|inspect)(\.|$)/;
/** Names of what is given a model to copy, count, save, watch or judge it. */
const harmlessName =
  /ema|swa|averag|save|checkpoint|log|watch|print|summary|count|visuali[sz]|plot|unwrap|get_|num_|eval|valid|test|export|early|learning_rate|_lr\b|lr_|autocast|no_sync|nullcontext|freez|accuracy|metric|loss|criterion|seed|memory|to_device|set_grad|requires_grad|accumulate|backward_sync/i;

const zeroingName = /(zero|clear|reset)_?(the_|all_)?grad/i;

/** What has to do with gradients is not harmless, whatever else its name says (`average_gradients(model)`). */
function isHarmless(name: string): boolean {
  return harmlessName.test(name) && (!/grad/i.test(name) || /set_grad|requires_grad|no_grad/i.test(name));
}

/** Methods that every `torch.nn.Module` has and that leave gradients alone. */
const moduleMethods =
  /^((named_)?(parameters|modules|children|buffers)|train|eval|state_dict|load_state_dict|forward|to|cuda|cpu|half|float|register_buffer|add_module)$/;

/** Methods of optimizers, PyTorch's and others', that neither reset gradients nor keep them for later. */
const optimizerMethods =
  /^(state_dict|load_state_dict|add_param_group|consolidate_state_dict|register_\w+_hook|train|eval|synchronize|clip_\w+)$/;

/** Happenings of a call, innermost first; empty when it does nothing of interest. */
export function classifyCall(tools: Tools, call: Call): Happening[] {
  const { resolver } = tools;
  const qualified = resolver.qualifiedName(call.callee);
  if (qualified !== undefined) {
    const known = classifyQualified(call, qualified);
    if (known !== undefined) return [known];
  }
  if (call.callee.kind === "Attribute") {
    const known = classifyMethod(tools, call, call.callee);
    if (known !== undefined) return [known];
  }
  return classifyUnknown(tools, call, qualified);
}

function happening(kind: EventKind, node: Node, more: Partial<Happening> = {}): Happening {
  return {
    kind,
    node,
    subject: undefined,
    of: "other",
    certainty: "resolved",
    through: undefined,
    withGradient: false,
    ...more,
  };
}

function classifyQualified(call: Call, qualified: string): Happening | undefined {
  const first = call.positional[0] ?? keyword(call, "tensors") ?? keyword(call, "parameters");
  // Distributed autograd keeps the gradients of each context apart: nothing accumulates in `.grad`.
  if (qualified === "torch.distributed.autograd.backward") {
    return happening("unknown-code", call, { of: "optimizer" });
  }
  if (qualified === "torch.autograd.backward") {
    const withGradient = call.positional.length > 1 || keyword(call, "grad_tensors") !== undefined;
    return happening("backward", call, { subject: first, of: "loss", withGradient });
  }
  if (/^torch_xla\.(core\.)?(xla_model\.)?optimizer_step$/.test(qualified)) {
    return happening("optimizer-step", call, { subject: first, of: "optimizer" });
  }
  if (clipFunctions.test(qualified)) return happening("clip", call, { subject: first });
  if (qualified === "torch._foreach_zero_") return happening("zeroing", call, { of: "gradient" });
  if (scalingFunctions.test(qualified)) return happening("gradient-scaling", call);
  if (qualified === "builtins.setattr" && isGradientString(call.positional[1])) {
    return happening("zeroing", call, { of: "gradient", subject: first });
  }
  return undefined;
}

function isGradientString(expression: Expression | undefined): boolean {
  return expression?.kind === "String" && expression.value === "grad";
}

function classifyMethod(tools: Tools, call: Call, callee: Attribute): Happening | undefined {
  const receiver = callee.object;
  const method = callee.attribute.id;
  switch (method) {
    case "backward":
      return classifyBackward(tools, call, receiver);
    case "manual_backward":
      return happening("backward", call, {
        subject: call.positional[0] ?? keyword(call, "loss"),
        of: "loss",
        through: frameworks["lightning-manual"],
      });
    case "step":
      return classifyStep(tools, call, receiver);
    case "zero_grad":
      return classifyZeroGrad(tools, call, receiver);
    case "zero_":
    case "fill_":
    case "div_":
    case "mul_":
      return gradientOf(receiver) === undefined
        ? undefined
        : happening(method === "zero_" || method === "fill_" ? "zeroing" : "gradient-scaling", call, {
            of: "gradient",
            subject: gradientOf(receiver),
          });
    case "clamp_":
    case "clip_":
      return gradientOf(receiver) === undefined
        ? undefined
        : happening("clip", call, { of: "gradient", subject: gradientOf(receiver) });
    case "unscale_":
      return happening("unscale", call, { subject: call.positional[0] });
    case "update":
      return tools.resolver.roleOf(receiver) === "scaler" ? happening("scaler-update", call) : undefined;
    case "clip_grad_norm_":
    case "clip_grad_value_":
    case "clip_gradients":
      return happening("clip", call, {
        subject: call.positional[0],
        through: tools.frameworkFacts.ofObject(receiver),
      });
    default:
      return gradientHooks.has(method) ? happening("gradient-hook", call) : undefined;
  }
}

function classifyBackward(tools: Tools, call: Call, receiver: Expression): Happening {
  const first = call.positional[0] ?? keyword(call, "loss");
  const through = first === undefined ? undefined : throughObject(tools, receiver);
  if (through !== undefined) return happening("backward", call, { subject: first, of: "loss", through });
  const withGradient = call.positional.length > 0 || keyword(call, "gradient") !== undefined;
  return happening("backward", call, { subject: lossInside(tools, receiver), of: "loss", withGradient });
}

function throughObject(tools: Tools, receiver: Expression): TraceEvent["through"] {
  const known = tools.frameworkFacts.ofObject(receiver);
  if (known !== undefined) return known;
  const role = tools.resolver.roleOf(receiver);
  if (role === "engine") return frameworks.deepspeed;
  if (role === "model" || role === "optimizer" || role === "framework" || role === "scaler") return "unknown";
  const name = lastNameOf(receiver);
  return name !== undefined && (name === "self" || frameworkName.test(name)) ? "unknown" : undefined;
}

/** The loss in `scaler.scale(loss)`, and in `with amp.scale_loss(loss, optimizer) as scaled_loss`. */
function lossInside(tools: Tools, receiver: Expression): Expression {
  if (
    receiver.kind === "Call" &&
    receiver.callee.kind === "Attribute" &&
    receiver.callee.attribute.id === "scale"
  ) {
    return receiver.positional[0] ?? receiver;
  }
  if (receiver.kind !== "Name") return receiver;
  const [binding, other] = tools.resolver.scopes.lookup(receiver);
  if (other !== undefined || binding?.kind !== "with" || binding.value?.kind !== "Call") return receiver;
  if (lastNameOf(binding.value.callee) !== "scale_loss") return receiver;
  return binding.value.positional[0] ?? receiver;
}

function classifyStep(tools: Tools, call: Call, receiver: Expression): Happening | undefined {
  const object = tools.resolver.objectOf(receiver);
  const certainty = object?.certainty ?? "name";
  if (object?.role === "scaler") {
    const subject = call.positional[0] ?? keyword(call, "optimizer");
    const optimizer = subject === undefined ? undefined : tools.resolver.objectOf(subject);
    return happening("optimizer-step", call, {
      subject,
      of: "optimizer",
      certainty: optimizer?.certainty ?? "name",
    });
  }
  if (object?.role === "engine") {
    return happening("optimizer-step", call, { of: "trainer", certainty, through: frameworks.deepspeed });
  }
  if (object?.role === "scheduler")
    return happening("scheduler-step", call, { subject: receiver, certainty });
  if (object?.role === "optimizer") {
    return happening("optimizer-step", call, { subject: receiver, of: "optimizer", certainty });
  }
  if (object !== undefined && object.certainty !== "name") return undefined;
  const name = lastNameOf(receiver);
  if (name === undefined) return undefined;
  if (schedulerName.test(name))
    return happening("scheduler-step", call, { subject: receiver, certainty: "name" });
  if (/scaler/i.test(name) && call.positional.length > 0) {
    return happening("optimizer-step", call, {
      subject: call.positional[0],
      of: "optimizer",
      certainty: "name",
    });
  }
  if (!optimizerName.test(name)) return undefined;
  return happening("optimizer-step", call, { subject: receiver, of: "optimizer", certainty: "name" });
}

function classifyZeroGrad(tools: Tools, call: Call, receiver: Expression): Happening {
  const object = tools.resolver.objectOf(receiver);
  const byName = lastNameOf(receiver);
  const of =
    object?.role === "optimizer" ||
    (object === undefined && byName !== undefined && optimizerName.test(byName))
      ? "optimizer"
      : object?.role === "model"
        ? "model"
        : "other";
  return happening("zeroing", call, { subject: receiver, of, certainty: object?.certainty ?? "name" });
}

/** Calls of code that we cannot see and that gets hold of the optimizer, the model or the trainer itself. */
function classifyUnknown(tools: Tools, call: Call, qualified: string | undefined): Happening[] {
  if (qualified !== undefined && harmlessPackages.test(qualified)) return [];
  const name = lastNameOf(call.callee);
  if (isUnknownOwnMethod(tools, call)) return unlessSeen(tools, call, "trainer");
  if (isOwnOfOptimizer(tools, call)) return unlessSeen(tools, call, "optimizer");
  let given: TraceEvent["of"] | undefined;
  for (const argument of [
    ...call.positional,
    ...call.keywords.map(({ value }) => value),
    ...call.keywordSpreads,
  ]) {
    const handed = whatIsHanded(tools, argument);
    if (handed === "optimizer" || given === undefined) given = handed ?? given;
  }
  if (given === undefined) given = whatReceiverHolds(tools, call);
  // `zero_grad(self.model_params)` of another file: whatever it is given, its name says what it does.
  if (given === undefined && name !== undefined && zeroingName.test(name)) given = "trainer";
  if (given === undefined) return [];
  if (given === "model" && name !== undefined && isHarmless(name)) return [];
  if (given === "model" && receiverName(call.callee, harmlessName)) return [];
  return unlessSeen(tools, call, given);
}

/** Unknown code, unless it is that of another file of the workspace. Asked last: other files are read for it. */
function unlessSeen(tools: Tools, call: Call, of: TraceEvent["of"]): Happening[] {
  return isSeenToBeHarmless(tools, call) ? [] : [happening("unknown-code", call, { of })];
}

/** A function of another file of the workspace, all of whose code leaves gradients alone. */
function isSeenToBeHarmless({ resolver }: Tools, call: Call): boolean {
  const helper = resolver.imported.functionOf(call);
  return helper !== undefined && !helper.file.torch.trainingLoops.touchesGradients(helper.definition);
}

/** `self.something()` that is neither a method of this file nor an attribute set in it, with a base we cannot see. */
function isUnknownOwnMethod({ resolver }: Tools, call: Call): boolean {
  const { callee } = call;
  if (callee.kind !== "Attribute" || callee.object.kind !== "Name" || callee.object.id !== "self")
    return false;
  const owner = resolver.classOf(callee.object);
  if (owner === undefined || resolver.valuesOf(callee).length > 0) return false;
  if (isHarmless(callee.attribute.id) || moduleMethods.test(callee.attribute.id)) return false;
  return resolver.methodOf(owner, callee.attribute.id) === undefined && hasUnseenBase(resolver, owner);
}

/** `optimizer.aggregate_grads(batch_size=8)`: what such a method does with the gradients, its own class alone knows. */
function isOwnOfOptimizer({ resolver }: Tools, call: Call): boolean {
  if (call.callee.kind !== "Attribute") return false;
  const { object, attribute } = call.callee;
  if (optimizerMethods.test(attribute.id) || isHarmless(attribute.id)) return false;
  const role = resolver.roleOf(object);
  const isOptimizer = role === undefined ? /optim/i.test(lastNameOf(object) ?? "") : role === "optimizer";
  return isOptimizer && resolver.functionOf(call) === undefined;
}

function hasUnseenBase(resolver: Resolver, owner: ClassDefinition): boolean {
  if (owner.bases.length === 0) return false;
  return resolver
    .basesOf(owner)
    .some((base) => !/^(torch\.nn\.|builtins\.object$|abc\.|typing\.|enum\.)/.test(base));
}

/** What a call's argument hands over: the optimizer, the model (or its parameters), or `self`. */
function whatIsHanded(
  { resolver }: Tools,
  argument: Expression,
): "optimizer" | "model" | "trainer" | undefined {
  const handed = unwrapArgument(argument);
  if (handed.kind === "Name" && handed.id === "self") return "trainer";
  if (handed.kind !== "Name" && handed.kind !== "Attribute" && handed.kind !== "Subscript") return undefined;
  const role = resolver.roleOf(handed);
  if (role === "optimizer") return "optimizer";
  if (role === "model" || role === "engine") return "model";
  const name = lastNameOf(handed);
  if (role === undefined && name !== undefined && optimizerName.test(name)) return "optimizer";
  return resolver.valuesOf(handed).some((value) => isListOfParameters(resolver, value)) ? "model" : undefined;
}

/** `list(model.parameters())`, `[p for p in model.parameters() if p.requires_grad]`. */
function isListOfParameters(resolver: Resolver, value: Expression): boolean {
  let at = value.kind === "Comprehension" ? value.clauses[0]?.iterable : value;
  while (at?.kind === "Call" && /^(list|tuple|filter)$/.test(lastNameOf(at.callee) ?? ""))
    at = at.positional.at(-1);
  if (at?.kind !== "Call" || at.callee.kind !== "Attribute") return false;
  if (!/^(named_)?parameters$/.test(at.callee.attribute.id)) return false;
  return resolver.roleOf(at.callee.object) === "model";
}

/** `*[model]`, `model.module`, `model.parameters()`, `optimizer.param_groups` hand over the model or the optimizer. */
function unwrapArgument(argument: Expression): Expression {
  let current = argument;
  for (;;) {
    if (current.kind === "Starred" || current.kind === "Await") current = current.value;
    else if ((current.kind === "List" || current.kind === "Tuple") && current.elements[0])
      current = current.elements[0];
    else if (
      current.kind === "Call" &&
      current.callee.kind === "Attribute" &&
      /^(named_)?(parameters|modules|children)$/.test(current.callee.attribute.id)
    )
      current = current.callee.object;
    else if (current.kind === "Attribute" && /^(module|param_groups)$/.test(current.attribute.id)) {
      current = current.object;
    } else return current;
  }
}

/** Methods of an object that was made with the optimizer, or that is a framework's or a callback's by its name. */
function whatReceiverHolds({ resolver }: Tools, call: Call): "optimizer" | "trainer" | undefined {
  if (call.callee.kind !== "Attribute") return undefined;
  const receiver = call.callee.object;
  const path = dottedPath(receiver);
  if (path === undefined || path === "self") return undefined;
  const object = resolver.objectOf(receiver);
  if (object !== undefined && object.role !== "framework") return undefined;
  if (object?.role === "framework" && object.certainty !== "name") return undefined;
  const name = lastNameOf(receiver);
  if (name !== undefined && caretakerName.test(name)) return "trainer";
  for (const value of resolver.valuesOf(receiver)) {
    // What a function of this file returns, or a tensor, holds nothing.
    if (value.kind !== "Call" || resolver.constructedClass(value) !== undefined) continue;
    if (resolver.functionOf(value) !== undefined) continue;
    const made = [...value.positional, ...value.keywords.map((argument) => argument.value)];
    if (made.some((argument) => resolver.roleOf(argument) === "optimizer")) return "optimizer";
  }
  return undefined;
}

function receiverName(callee: Expression, pattern: RegExp): boolean {
  if (callee.kind !== "Attribute") return false;
  const name = lastNameOf(callee.object);
  return name !== undefined && pattern.test(name);
}

/** Happenings of a statement itself, beyond those of the calls in it. */
export function classifyStatement(statement: Statement): Happening[] {
  switch (statement.kind) {
    case "Assign":
      return statement.targets.flatMap((target) => gradientAssigned(statement, target, statement.value));
    case "AnnotatedAssign":
      return statement.value === undefined
        ? []
        : gradientAssigned(statement, statement.target, statement.value);
    case "AugmentedAssign": {
      const subject = gradientOf(statement.target);
      if (subject === undefined) return [];
      const byZero = statement.operator === "*" && isZero(statement.value);
      return [happening(byZero ? "zeroing" : "gradient-scaling", statement, { of: "gradient", subject })];
    }
    case "Delete":
      return statement.targets
        .filter((target) => gradientOf(target) !== undefined)
        .map((target) => happening("zeroing", statement, { of: "gradient", subject: gradientOf(target) }));
    default:
      return [];
  }
}

function gradientAssigned(statement: Statement, target: Expression, value: Expression): Happening[] {
  const subject = gradientOf(target);
  if (subject === undefined) return [];
  const kind = readsGradient(value) ? "gradient-scaling" : "zeroing";
  return [happening(kind, statement, { of: "gradient", subject })];
}

function readsGradient(value: Expression): boolean {
  let found = false;
  walk(value, {
    enter(node) {
      if (node.kind === "Attribute" && node.attribute.id === "grad") found = true;
      return !found;
    },
  });
  return found;
}

function isZero(expression: Expression): boolean {
  return (expression.kind === "Integer" || expression.kind === "Float") && expression.value === 0;
}

/** `p` for `p.grad`, `p.grad.data`, `p.grad[…]`. */
export function gradientOf(expression: Expression): Expression | undefined {
  let current = expression;
  for (;;) {
    if (current.kind === "Subscript") current = current.object;
    else if (current.kind !== "Attribute") return undefined;
    else if (current.attribute.id === "grad") return current.object;
    else if (current.attribute.id === "data" || current.attribute.id === "_grad") current = current.object;
    else return undefined;
  }
}

/** A read of `x.grad` for its value: not `torch.autograd.grad`, not `x.grad = …`, `x.grad.zero_()`, `x.grad is None`. */
export function classifyAttribute({ resolver }: Tools, node: Attribute): Happening | undefined {
  if (node.attribute.id !== "grad" || resolver.qualifiedName(node) !== undefined) return undefined;
  let whole: Expression = node;
  while (whole.parent?.kind === "Attribute" && /^(data|_grad)$/.test(whole.parent.attribute.id))
    whole = whole.parent;
  if (!isRead(whole)) return undefined;
  return happening("gradient-read", node, { of: "gradient", subject: node.object });
}

/** False where a gradient is reset, scaled in place, or only asked whether it is there. */
function isRead(gradient: Expression): boolean {
  const { parent } = gradient;
  switch (parent?.kind) {
    case "Assign":
      return !parent.targets.includes(gradient);
    case "AnnotatedAssign":
    case "AugmentedAssign":
      return parent.target !== gradient;
    case "Delete":
      return false;
    case "Comparison":
      return !parent.operators.every((operator) => operator === "is" || operator === "is not");
    case "Attribute":
      return !/^(zero_|fill_|div_|mul_|detach_|requires_grad_)$/.test(parent.attribute.id);
    default:
      return true;
  }
}

/** The last identifier of `a.b.c`, `a["b"].c`, `f(x).c`: what a person calls the thing. */
export function lastNameOf(expression: Expression): string | undefined {
  let current = expression;
  for (;;) {
    if (current.kind === "Name") return current.id;
    if (current.kind === "Attribute") return current.attribute.id;
    if (current.kind === "Subscript") current = current.object;
    else if (current.kind === "Call") current = current.callee;
    else return undefined;
  }
}

/** For findings that depend on it: the weaker of two certainties. */
export function weaker(a: Certainty, b: Certainty): Certainty {
  const order: readonly Certainty[] = ["resolved", "annotation", "name"];
  return order.indexOf(a) > order.indexOf(b) ? a : b;
}
