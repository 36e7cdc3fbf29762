/** States of reinforcement learning, which begin anew where the environment says that an episode is over. */
import { lastName } from "../../python/last-name";
import type { Call, Expression, If, Node, Statement } from "../../python/tree";
import { enclosingLoop, someNode, isWithin } from "../../python/walk";
import type { TorchFacts } from "../../torch/facts";
import type { Definition } from "../../torch/provenance/flow";

/**
 * `if done: state, hidden = env.reset(), zeros(…)` after `state, reward, done = env.step(action)`: the episode goes on over
 * several rounds of the loop, and so does the state. Not where the steps of a round end with the episode, nor where a round
 * begins one.
 */
export function beginsWithEpisode(
  torch: TorchFacts,
  definition: Definition,
  key: string,
  round: Node,
): boolean {
  const { node, value } = definition;
  const { parent } = node;
  if (definition.kind !== "assign" || value === undefined || parent?.kind !== "If") return false;
  if (!parent.body.includes(node as Statement) || parent.orelse.length > 0 || endsTheSteps(parent))
    return false;
  if (!isResetHereOnly(torch, stepsBehind(torch, parent.test), parent, round)) return false;
  const { resolve, provenance } = torch;
  const readsItself = someNode(
    value,
    (part) => (part.kind === "Name" || part.kind === "Attribute") && resolve.keyOf(part) === key,
  );
  return !readsItself && provenance.carried(value, definition.path).graph === "no";
}

/** The calls `env.step(action)` that say `done`, or `done or truncated`; none where anything else says it. */
function stepsBehind(torch: TorchFacts, test: Expression): readonly Call[] {
  if (test.kind === "BooleanOperation") {
    const steps = test.operands.map((operand) => stepsBehind(torch, operand));
    return steps.every(({ length }) => length > 0) ? steps.flat() : [];
  }
  const reaching = (test.kind === "Name" && torch.provenance.flow.reaching(test)) || [];
  const steps = reaching.flatMap((one) => {
    const made = typeof one !== "symbol" && one.path.length === 1 ? one.value : undefined;
    return made?.kind === "Call" && lastName(made.callee) === "step" ? [made] : [];
  });
  return steps.length === reaching.length ? steps : [];
}

/** The environment begins anew under the condition, and nowhere else in a round. */
function isResetHereOnly(
  { resolve }: TorchFacts,
  steps: readonly Call[],
  condition: If,
  round: Node,
): boolean {
  const environments = new Set(steps.map(receiverKey));
  if (environments.size !== 1 || environments.has(undefined)) return false;
  const resets = (resolve.index.callsByName.get("reset") ?? []).filter(
    (call) => isWithin(call, round) && environments.has(receiverKey(call)),
  );
  return resets.length > 0 && resets.every((call) => isWithin(call, condition));

  function receiverKey({ callee }: Call): string | undefined {
    return callee.kind === "Attribute" ? resolve.keyOf(callee.object) : undefined;
  }
}

/** The loop over the steps may be left where the episode ends: `break`, `while not done`. */
function endsTheSteps(condition: If): boolean {
  const loop = enclosingLoop(condition);
  if (loop?.kind !== "For") return true;
  return someNode(loop, ({ kind }) => kind === "Break" || kind === "Return" || kind === "Raise");
}
