/** Where queries and keys come from: linear layers over a sequence, split into heads. */
import { lastName } from "../../python/last-name";
import type { Call, Expression } from "../../python/tree";
import type { TorchFacts } from "../../torch/facts";
import { atEntry } from "../../torch/provenance/flow";
import { axisOf } from "./products";

export interface Projected {
  /** The sequence that the layer is given, as a text that is equal for equal variables. */
  readonly from: string;
  /** Split into heads, with a head's features as the last axis. */
  readonly hasHeads: boolean;
}

const longestWay = 14;

/** `undefined` for anything that is not surely positions by features: pixels, channels, one state, several origins. */
export function projectionOf(torch: TorchFacts, expression: Expression): Projected | undefined {
  const { resolve, provenance } = torch;
  let at = expression;
  const layout: Call[] = [];
  for (let step = 0; step < longestWay; step++) {
    switch (at.kind) {
      case "Name": {
        const [one, other] = provenance.flow.reaching(at) ?? [];
        if (one === undefined || one === atEntry || other !== undefined) return undefined;
        if (one.kind !== "assign" || one.value === undefined) return undefined;
        at = one.value;
        continue;
      }
      case "Subscript":
        // `qkv[0]`
        if (at.index.kind !== "Integer") return undefined;
        at = at.object;
        continue;
      case "BinaryOperation":
        if ((at.operator !== "*" && at.operator !== "/") || !isScale(at.right)) return undefined;
        at = at.left;
        continue;
      case "Call": {
        const layer = resolve.objectOf(at.callee)?.className;
        const [given, another] = at.positional;
        if (layer === "torch.nn.Linear") {
          const from = given && another === undefined ? resolve.keyOf(given) : undefined;
          const heads = headsIn(layout.reverse());
          return from === undefined || heads === "unknown"
            ? undefined
            : { from, hasHeads: heads === "split" };
        }
        if (given !== undefined && /^torch\.nn\.(LayerNorm|RMSNorm|Identity)$/.test(layer ?? "")) {
          at = given;
          continue;
        }
        const inner = rearranged(torch, at);
        if (inner !== undefined) {
          layout.push(at);
          at = inner;
          continue;
        }
        if (at.callee.kind !== "Attribute" || resolve.qualifiedName(at.callee) !== undefined)
          return undefined;
        if (
          !/^(view|reshape|transpose|permute|contiguous|unbind|chunk|split|unflatten)$/.test(
            at.callee.attribute.id,
          )
        )
          return undefined;
        layout.push(at);
        at = at.callee.object;
        continue;
      }
      default:
        return undefined;
    }
  }
  return undefined;
}

/** `self.scale`, `math.sqrt(d)`, `head_dim ** -0.5`, `8.0`: one number for all scores. */
export function isScale(expression: Expression): boolean {
  switch (expression.kind) {
    case "Integer":
    case "Float":
      return true;
    case "Name":
    case "Attribute":
      return /scal|sqrt|^d_?k$|dim|^norm_fact(or)?$|^norm$|^temperature$|factor/i.test(
        lastName(expression) ?? "",
      );
    case "Call": {
      const name = lastName(expression.callee) ?? "";
      return /^r?sqrt$/.test(name) || (name === "size" && axisOf(expression.positional[0]) === -1);
    }
    case "BinaryOperation":
      // `C ** -0.5`
      if (expression.operator === "**") return isScale(expression.right);
      return expression.operator !== "@" && isScale(expression.left) && isScale(expression.right);
    case "UnaryOperation":
      return isScale(expression.operand);
    case "Subscript":
      // `k.shape[-1]`
      return expression.object.kind === "Attribute" && expression.object.attribute.id === "shape";
    default:
      return false;
  }
}

/** `rearrange(x, "b n (h d) -> b h n d", h=heads)`, or what `map` does so with each of several. */
function rearranged({ resolve }: TorchFacts, call: Call): Expression | undefined {
  const [first, second] = call.positional;
  if (resolve.qualifiedName(call.callee) === "einops.rearrange") return first;
  const isMap = resolve.qualifiedName(call.callee) === "builtins.map";
  const body = isMap && first?.kind === "Lambda" ? first.body : undefined;
  return body?.kind === "Call" && resolve.qualifiedName(body.callee) === "einops.rearrange"
    ? second
    : undefined;
}

/** `b n (h d) -> b h n d`, `b n (qkv h d) -> qkv b h n d`, `b n (h d) -> (b h) n d`. */
const featuresLast = /^(\w+) (\w+) \((?:(\w+) )?(\w+) (\w+)\) -> (?:\3 )?(?:\1 \4|\(\1 \4\)) \2 \5$/;

type Heads = "split" | "none" | "unknown";

/** What the calls, in the order in which they run, make of positions by features. */
function headsIn(layout: readonly Call[]): Heads {
  let dimensions: number | undefined;
  let heads: Heads = "none";
  for (const call of layout) {
    const pattern = patternOf(call);
    if (pattern !== undefined) {
      if (!featuresLast.test(pattern)) return "unknown";
      heads = "split";
      continue;
    }
    const method = call.callee.kind === "Attribute" ? call.callee.attribute.id : "";
    const axes = call.positional.map((axis) => axisOf(axis));
    if (method === "view" || method === "reshape") {
      if (dimensions !== undefined || call.positional.some(({ kind }) => kind === "Starred"))
        return "unknown";
      // `view(batch, 1, heads, features)`: one position.
      if (axes.includes(1)) return "unknown";
      dimensions = call.positional.length === 1 ? undefined : call.positional.length;
      if (dimensions !== 4 && dimensions !== 5) return "unknown";
    } else if (method === "transpose") {
      if (dimensions !== 4 || axes.join() !== "1,2") return "unknown";
      heads = "split";
    } else if (method === "permute") {
      if (!/^(0,2,1,3|2,0,3,1,4)$/.test(axes.join()) || axes.length !== dimensions) return "unknown";
      heads = "split";
    }
  }
  return dimensions !== undefined && heads === "none" ? "unknown" : heads;
}

function patternOf({ positional }: Call): string | undefined {
  const [first, second] = positional;
  const inner = first?.kind === "Lambda" && first.body.kind === "Call" ? first.body.positional[1] : second;
  return inner?.kind === "String" ? inner.value?.replace(/\s+/g, " ").trim() : undefined;
}
