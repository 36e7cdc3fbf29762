/** States of several layers in one list: `return out, [a, b]`, or a list that `forward` appends each layer's state to. */
import type { Call, Expression, Node } from "../../python/tree";
import type { TorchFacts } from "../../torch/facts";
import { atEntry } from "../../torch/provenance/flow";
import type { Path } from "../../torch/provenance/value";

/** What each entry is: a tensor, or the pair of an LSTM. */
export type Collected = "tensors" | "pairs";

/** The list at a position of what a model of this file gives; `undefined` for anything else. */
export function collectedStates(
  torch: TorchFacts,
  call: Call,
  path: readonly number[],
): Collected | undefined {
  const { resolve } = torch;
  const owner = resolve.objectOf(call.callee)?.classDefinition;
  const forward = owner && resolve.methodOf(owner, "forward");
  const [returned, other] = forward === undefined ? [] : resolve.returnedValues(forward);
  const [position, deeper] = path;
  if (returned?.kind !== "Tuple" || other !== undefined || position === undefined || deeper !== undefined)
    return undefined;
  const element = returned.elements.at(position);
  const entries = element === undefined ? [] : entriesOf(torch, element, forward);
  const kinds = new Set(entries.map((entry) => kindOf(torch, entry)));
  const [kind] = kinds;
  return kinds.size === 1 ? kind : undefined;
}

/** What is put into a list, and where in it the state is. */
interface Entry {
  readonly value: Expression;
  readonly path: Path;
}

function entriesOf(torch: TorchFacts, list: Expression, forward: Node | undefined): readonly Entry[] {
  if (list.kind === "List") return list.elements.map((value) => ({ value, path: [] }));
  const { resolve, provenance, scopes } = torch;
  const [binding, another] = list.kind === "Name" ? scopes.lookup(list) : [];
  if (binding === undefined || another !== undefined) return [];
  const key = resolve.keyOf(list);
  const stores = provenance.stores.filter(({ holderKey }) => holderKey === key);
  // The list that the caller gives, whose entries are replaced: `hidden[layer] = cell(x, hidden[layer])`.
  if (binding.kind === "parameter" && binding.scope.owner === forward)
    return stores.every(({ kind, keys }) => kind === "subscript" && keys.length === 1) ? stores : [];
  const { value: start } = binding;
  if (start?.kind !== "List" || start.elements.length > 0) return [];
  return stores.filter(({ how }) => how === "append");
}

/** A state as a recurrent layer gives it: the second of two, or all that a cell gives. */
function kindOf(torch: TorchFacts, { value, path }: Entry): Collected | undefined {
  if (path.length > 0 || value.kind === "Call") return kindOfGiven(torch, value, path);
  if (value.kind !== "Name") return undefined;
  const kinds = (torch.provenance.flow.reaching(value) ?? []).map((one) =>
    one === atEntry || one.kind !== "assign" ? undefined : kindOfGiven(torch, one.value, one.path),
  );
  const [kind] = kinds;
  return kinds.every((one) => one === kind) ? kind : undefined;
}

function kindOfGiven(
  { resolve }: TorchFacts,
  value: Expression | undefined,
  path: Path,
): Collected | undefined {
  const layer = value?.kind === "Call" ? layerOf(resolve, value) : undefined;
  if (path.length === 1 && path[0] === 1) {
    if (layer === "LSTM") return "pairs";
    return layer === "GRU" || layer === "RNN" ? "tensors" : undefined;
  }
  if (path.length > 0) return undefined;
  if (layer === "LSTMCell") return "pairs";
  return layer === "GRUCell" || layer === "RNNCell" ? "tensors" : undefined;
}

/** `LSTM` of `self.rnn(x)`, and of a layer of `self.layers = nn.ModuleList([nn.LSTM(…), …])` in a loop over those. */
function layerOf(resolve: TorchFacts["resolve"], { callee }: Call): string | undefined {
  const name = resolve.objectOf(callee)?.className ?? layerInList(resolve, callee);
  return /^torch\.nn\.(RNN|LSTM|GRU|RNNCell|LSTMCell|GRUCell)$/.exec(name ?? "")?.[1];
}

function layerInList(resolve: TorchFacts["resolve"], callee: Expression): string | undefined {
  const [binding, other] = callee.kind === "Name" ? resolve.scopes.lookup(callee) : [];
  let list = callee.kind === "Subscript" ? callee.object : other === undefined ? binding?.value : undefined;
  // `for i, cell in enumerate(self.cells)`
  if (list?.kind === "Call") list = list.positional[0];
  const [made, another] = list === undefined ? [] : resolve.valuesOf(list);
  if (made?.kind !== "Call" || another !== undefined) return undefined;
  if (resolve.qualifiedName(made.callee) !== "torch.nn.ModuleList") return undefined;
  const [layers] = made.positional;
  const first =
    layers?.kind === "Comprehension"
      ? layers.element
      : layers?.kind === "List"
        ? layers.elements[0]
        : undefined;
  return first?.kind === "Call" ? resolve.qualifiedName(first.callee) : undefined;
}

/** The same list, cut off from its graph; `None` stays where the first iteration may have it. */
export function detachedList(name: string, collected: Collected, mayHoldNone: boolean): string {
  const cut = collected === "pairs" ? "tuple(part.detach() for part in layer)" : "layer.detach()";
  return `${name} = [${mayHoldNone ? `None if layer is None else ${cut}` : cut} for layer in ${name}]`;
}

/** `[None, None]`, `[None] * layers`: what a list begins with before the first state. */
export function holdsNone(start: Expression | undefined): boolean {
  if (start?.kind === "BinaryOperation") return holdsNone(start.left) || holdsNone(start.right);
  return start?.kind === "List" && start.elements.some(({ kind }) => kind === "None");
}
