/** Which values are outputs of a model, on its device and of its size: not numbers, class indices or copies in host memory. */
import { lastName } from "../../python/last-name";
import type { Call, Expression, Name, Subscript } from "../../python/tree";
import { ancestors } from "../../python/walk";
import { graphKeepingMethods, keepsGraph } from "../../torch/api-graph";
import type { TorchFacts } from "../../torch/facts";

/** Position inside a value: `logits` of `logits, hidden = model(x)` is `[0]`. */
type Path = readonly number[];

interface Step {
  readonly at: Expression;
  readonly path: Path;
  /** The variable that names what lies at the path. */
  readonly name?: string;
}

/** A value that is as large as what one call gives. */
export interface Output {
  /** The call of the model. */
  readonly call: Call;
  /** The call that says how large the value is: another one within the model's `forward` for a further result. */
  readonly sizedBy: Call | undefined;
}

/** Methods that leave one number a row, or an index: small beside what they are made of. */
const reducing =
  /^(sum|mean|max|min|norm|prod|std|var|median|mode|topk|kthvalue|logsumexp|quantile|gather|diag\w*|dot|masked_select|trace|amax|amin|nanmean|nansum|log_prob|entropy|cosine_similarity|pairwise_distance|narrow|index_select|one_hot|cdist)$/;
/** Attributes of a model's output object that hold a tensor as large as the output. */
const outputAttributes =
  /^(logits|out|last_hidden_state|pooler_output|hidden_states|embeddings|sample|prediction_logits|start_logits|end_logits|text_embeds|image_embeds|predictions?|preds?|features?|feats?|T|data)$/;

/** What the further results of a model are called that are as large as its layers: a vector for each sample. */
export const featureNames =
  /^(\w+_)?(features?|feats?|embeddings?|embeds?|embs?|representations?)(_?\d|_\w+)?$/i;

/**
 * The call of a model whose output an expression is, moved nowhere: `model(x)`, `F.softmax(model(x), dim=1)`, `out.logits`,
 * `features` of `logits, features = model(x)`; `undefined` for everything that is smaller, elsewhere or not understood.
 */
export function outputOf(torch: TorchFacts, value: Expression): Output | undefined {
  const seen = new Set<Expression>();
  let found: Output | undefined;
  const pending: Step[] = [{ at: value, path: [] }];
  for (let step = pending.pop(); step !== undefined; step = pending.pop()) {
    const { at, path, name } = step;
    if (seen.has(at)) continue;
    seen.add(at);
    if (seen.size > 40) return undefined;
    const next = stepsBehind(torch, at, path);
    if (next === undefined) return undefined;
    if (next === "output") {
      const output = at.kind === "Call" ? outputAt(torch, at, path, name) : undefined;
      if (output === undefined) return undefined;
      found ??= output;
      continue;
    }
    pending.push(...next);
  }
  return found;
}

/** What lies at a position of what a model gives. */
function outputAt(torch: TorchFacts, call: Call, path: Path, name: string | undefined): Output | undefined {
  const [position] = path;
  if (position === undefined || position === 0) return { call, sizedBy: call };
  // A further result is as a rule a state, an attention map, a loss: only what is told apart from those counts.
  if (position < 0 || name === undefined || !featureNames.test(name)) return undefined;
  const owner = torch.resolve.objectOf(receiverOf(call))?.classDefinition;
  const forward = owner && torch.resolve.methodOf(owner, "forward");
  if (forward === undefined) return { call, sizedBy: undefined };
  const inner = torch.resolve
    .returnedValues(forward)
    .map((returned) => (returned.kind === "Tuple" ? returned.elements[position] : undefined));
  const made = inner.map((element) => element && outputOf(torch, element));
  if (made.length !== 1 || made[0] === undefined) return undefined;
  return { call, sizedBy: made[0].sizedBy };
}

/** What an expression is made of without getting smaller; `output` at a model's call, `undefined` otherwise. */
function stepsBehind(torch: TorchFacts, at: Expression, path: Path): readonly Step[] | "output" | undefined {
  switch (at.kind) {
    case "Name":
      return stepsOfName(torch, at, path);
    case "Attribute":
      return outputAttributes.test(at.attribute.id) ? [{ at: at.object, path: [] }] : undefined;
    case "Subscript":
      return stepsOfSubscript(at, path);
    case "Call":
      return stepsOfCall(torch, at, path);
    case "UnaryOperation":
      return [{ at: at.operand, path }];
    default:
      return undefined;
  }
}

function stepsOfName(torch: TorchFacts, name: Expression, path: Path): readonly Step[] | undefined {
  const reaching = torch.provenance.flow.reaching(name);
  if (reaching === undefined || reaching.length === 0) return undefined;
  const steps: Step[] = [];
  for (const one of reaching) {
    if (typeof one === "symbol" || one.kind !== "assign" || one.value === undefined) return undefined;
    const named = one.path.length > 0 && name.kind === "Name" ? { name: name.id } : {};
    steps.push({ at: one.value, path: [...one.path, ...path], ...named });
  }
  return steps;
}

function stepsOfSubscript(subscript: Subscript, path: Path): readonly Step[] | undefined {
  const { index, object } = subscript;
  if (index.kind === "Integer") return [{ at: object, path: [index.value, ...path] }];
  // `out[i]` in a loop over all of them: nothing is left out.
  if (index.kind === "Name" && isCounted(subscript, index)) return [{ at: object, path }];
  if (index.kind === "String")
    return outputAttributes.test(index.value ?? "") ? [{ at: object, path: [] }] : undefined;
  // `hidden[:, 0]` is still a vector a sample; `probabilities[:, 1]` is a number.
  const sliced = object.kind === "Attribute" && object.attribute.id === "last_hidden_state";
  return sliced ? [{ at: object, path: [] }] : undefined;
}

/** The loop around the subscript counts the index. */
function isCounted(subscript: Subscript, index: Name): boolean {
  for (const at of ancestors(subscript)) {
    if (at.kind === "FunctionDefinition") return false;
    if (at.kind === "For" && at.target.kind === "Name" && at.target.id === index.id)
      return at.iterable.kind === "Call" && lastName(at.iterable.callee) === "range";
  }
  return false;
}

/** `self.forward(x)` of a class around the model: what it gives is what the model gave. */
function stepsOfReturned(returned: readonly Expression[], path: Path): readonly Step[] | undefined {
  return returned.length === 0 ? undefined : returned.map((at) => ({ at, path }));
}

function stepsOfCall(torch: TorchFacts, call: Call, path: Path): readonly Step[] | "output" | undefined {
  const { resolve } = torch;
  const { callee } = call;
  const name = resolve.qualifiedName(callee);
  const [first] = call.positional;
  if (name !== undefined) {
    const last = name.split(".").at(-1) ?? "";
    if (reducing.test(last) || /loss|cross_entropy|builtins/.test(name) || path.length > 0) return undefined;
    return keepsGraph(name) && first !== undefined && !isAmongSeveral(first)
      ? [{ at: first, path }]
      : undefined;
  }
  const object = resolve.objectOf(receiverOf(call));
  if (object?.role === "model" && (callee !== receiverOf(call) ? isForward(call) : true)) {
    return path.length <= 1 ? "output" : undefined;
  }
  const target = resolve.functionOf(call);
  if (target !== undefined) return stepsOfReturned(resolve.returnedValues(target), path);
  if (callee.kind !== "Attribute") return undefined;
  const method = callee.attribute.id;
  if (path.length > 0 || reducing.test(method) || /^(cpu|numpy|tolist|item|to|type)$/.test(method)) {
    return method === "to" && staysOnDevice(call) ? [{ at: callee.object, path }] : undefined;
  }
  const keeps = graphKeepingMethods.has(method) || method === "detach";
  return keeps ? [{ at: callee.object, path }] : undefined;
}

/** `torch.cat([a, b])` is several. */
function isAmongSeveral(argument: Expression): boolean {
  return argument.kind === "List" || argument.kind === "Tuple" || argument.kind === "Comprehension";
}

/** `x.to(torch.float32)`, `x.to("cuda")`; not `x.to("cpu")`, `x.to(device)`. */
function staysOnDevice(call: Call): boolean {
  const [first] = call.positional;
  if (first === undefined) return false;
  if (first.kind === "String") return /^cuda/.test(first.value ?? "");
  return first.kind === "Attribute" && /^(float|half|bfloat)\w*$/.test(first.attribute.id);
}

function isForward({ callee }: Call): boolean {
  return callee.kind === "Attribute" && callee.attribute.id === "forward";
}

/** `model` of `model(x)` and of `model.forward(x)`. */
function receiverOf(call: Call): Expression {
  const { callee } = call;
  return callee.kind === "Attribute" && callee.attribute.id === "forward" ? callee.object : callee;
}
