/**
 * What the steps of `torch.optim` allocate while they run, told as their Python functions do it: a loop over units, and
 * in each of them local names that are bound, bound anew and deleted. A name keeps its tensors until it is bound anew, so
 * the next unit starts with what the one before left. Sources: `_single_tensor_*` and `_multi_tensor_*` of torch 2.13;
 * test/goldens/optimizers.json measures them. Scalars are left out, but for those that foreach functions have for every parameter.
 */
import { roundedUp } from "./allocation-log";
import type { OptimizerSetting } from "./setup";
import { dtypeBytes, elementCount, type Dtype } from "./tensor";

/** A parameter that is trained. */
export interface TrainedTensor {
  readonly shape: readonly number[];
  readonly dtype: Dtype;
}

export type Options = OptimizerSetting["options"];

/** Bytes that a temporary has for one parameter. */
type SizeOf = (tensor: TrainedTensor) => number;

/**
 * `make` binds a name to new tensors, the old ones go once the new are there; `rename` moves them to another name; `mask`
 * and its like are alive for an instant, for one parameter after the other; `last` keeps the last tensor of a name.
 */
export type Move =
  | { readonly kind: "make"; readonly name: string; readonly of: SizeOf }
  | { readonly kind: "drop"; readonly name: string }
  | { readonly kind: "rename"; readonly name: string; readonly to: string }
  | { readonly kind: "instant"; readonly of: SizeOf }
  | { readonly kind: "last"; readonly name: string; readonly of: SizeOf };

/** The body of the loop. `sample` is a parameter of the unit: all of a unit have its dtype. */
export type StepBody = (options: Options, sample: TrainedTensor) => readonly Move[];

export function bytesOf({ shape, dtype }: TrainedTensor): number {
  return elementCount(shape) * dtypeBytes[dtype];
}

/** Whether the option is given and neither false nor zero. */
export function isOn(options: Options, name: string): boolean {
  const value = options[name];
  return typeof value === "number" ? value !== 0 : value === true;
}

const make = (name: string, of: SizeOf = bytesOf): Move => ({ kind: "make", name, of });
const drop = (name: string): Move => ({ kind: "drop", name });
const rename = (name: string, to: string): Move => ({ kind: "rename", name, to });
export const instant = (of: SizeOf = bytesOf): Move => ({ kind: "instant", of });

function when(condition: boolean, ...moves: readonly Move[]): readonly Move[] {
  return condition ? moves : [];
}

/** Weight decay that is added to the gradients, not taken off the parameters. */
function decays(options: Options): boolean {
  return isOn(options, "weight_decay") && !isOn(options, "decoupled_weight_decay");
}

/** `grad = grads[i] if not maximize else -grads[i]`: the old copy is there until the new one is. */
function gradient(options: Options): readonly Move[] {
  return [isOn(options, "maximize") ? make("grad") : drop("grad"), ...when(decays(options), make("grad"))];
}

/** `grad = grads[i]`, and only then its negative. */
function gradientAfter(options: Options): readonly Move[] {
  return [
    drop("grad"),
    ...when(isOn(options, "maximize"), make("grad")),
    ...when(decays(options), make("grad")),
  ];
}

/** The foreach functions reuse the negative for the decay. */
function gradients(options: Options): readonly Move[] {
  return [drop("grad"), ...when(isOn(options, "maximize") || decays(options), make("grad"))];
}

/** `name = (a.sqrt() / b).add_(eps)`. */
function quotient(name: string): readonly Move[] {
  return [make("inner"), make(name), drop("inner")];
}

/** With `capturable` the corrections are tensors of one number a parameter. */
function corrections(options: Options): readonly Move[] {
  const one: SizeOf = () => dtypeBytes.float32;
  return when(isOn(options, "capturable"), make("correction1", one), make("correction2", one));
}

const elements: SizeOf = ({ shape }) => elementCount(shape);
/** `torch.where(sign.gt(0), …)`: a mask of a byte an element, and the result. */
const choice: SizeOf = (tensor) => elements(tensor) + bytesOf(tensor);

/** Rows of the matrices, and their columns, as Adafactor keeps one number for each. */
export const rowsOf: SizeOf = ({ shape, dtype }) => elementCount(shape.slice(0, -1)) * dtypeBytes[dtype];
export const columnsOf: SizeOf = ({ shape, dtype }) =>
  elementCount([...shape.slice(0, -2), ...shape.slice(-1)]) * dtypeBytes[dtype];

/** One number for each matrix of a parameter. */
const matricesOf: SizeOf = ({ shape, dtype }) => elementCount(shape.slice(0, -2)) * dtypeBytes[dtype];

/** Newton-Schulz works in bfloat16, on the matrix with its smaller side first. */
const halfOf: SizeOf = ({ shape }) => 2 * elementCount(shape);
const gramOf: SizeOf = ({ shape }) => 2 * Math.min(...shape) ** 2;

export const singleSteps = {
  SGD: (options) => [
    ...gradient(options),
    ...when(isOn(options, "momentum"), isOn(options, "nesterov") ? make("grad") : drop("grad")),
  ],
  Adam: (options) => [...gradient(options), ...quotient("denom")],
  NAdam: (options) => [
    isOn(options, "maximize") ? make("grad") : drop("grad"),
    drop("exp_avg"),
    ...when(decays(options), make("grad")),
    ...quotient("denom"),
    ...when(isOn(options, "capturable"), make("denom"), make("grad"), make("exp_avg")),
  ],
  RAdam: (options) => [
    ...gradient(options),
    make("corrected"),
    ...(isOn(options, "capturable")
      ? [
          ...[make("root"), make("rate"), drop("root"), make("scaled"), drop("rate")],
          ...[make("update"), drop("scaled"), make("step"), make("product"), drop("step"), drop("product")],
        ]
      : [
          ...[make("step"), make("root"), make("inverse"), make("rate"), drop("inverse"), drop("root")],
          ...[make("product"), drop("step"), drop("rate"), make("step"), drop("product"), drop("step")],
        ]),
  ],
  Adamax: (options) => [
    ...gradientAfter(options),
    instant(),
    ...when(isOn(options, "capturable"), make("denom")),
  ],
  Adagrad: (options) => [...gradientAfter(options), make("std")],
  Adadelta: (options) => [...gradientAfter(options), make("std"), make("delta")],
  RMSprop: (options) => [...gradientAfter(options), make("avg")],
  Rprop: (options) => {
    const changed = instant(isOn(options, "capturable") ? choice : elements);
    return [...gradientAfter(options), ...quotient("sign"), changed, make("grad"), changed, instant()];
  },
  ASGD: (options) => [...gradientAfter(options), ...when(isOn(options, "capturable"), instant())],
  Adafactor: (options, { shape }) => [
    ...gradient({ maximize: options.maximize ?? false }),
    ...(shape.length > 1 ? [make("row_mean", rowsOf), make("col_mean", columnsOf)] : [make("squared")]),
    make("estimate"),
    ...when(shape.length > 1, instant(matricesOf)),
    rename("estimate", "update"),
  ],
  Muon: (options, { dtype }) => [
    options.nesterov === false ? drop("update") : make("update"),
    ...when(dtype !== "bfloat16", make("ortho", halfOf)),
    ...[0, 1].flatMap(() => [make("gram", gramOf), make("gram_update", gramOf), make("ortho", halfOf)]),
    ...[drop("gram"), drop("gram_update"), rename("ortho", "update")],
  ],
} satisfies Readonly<Record<string, StepBody>>;

export const foreachSteps = {
  SGD: gradients,
  Adam: (options) => [...gradients(options), drop("grad"), ...corrections(options), make("root")],
  NAdam: (options) => [
    ...gradients(options),
    make("root"),
    ...corrections(options),
    ...when(isOn(options, "capturable"), make("numerator")),
  ],
  RAdam: (options) => [...gradients(options), drop("grad"), ...corrections(options), make("buffer")],
  Adamax: (options) => [
    ...gradients(options),
    ...when(!isOn(options, "maximize") && !decays(options), make("grad")),
    ...when(isOn(options, "capturable"), make("denom")),
  ],
  Adagrad: (options) => [
    ...gradients(options),
    make("std"),
    ...(isOn(options, "maximize") || decays(options) ? [rename("grad", "numerator")] : [make("numerator")]),
  ],
  Adadelta: (options) => [...gradients(options), make("std"), make("deltas")],
  RMSprop: (options) => [...gradients(options), make("avg")],
  Rprop: (options) => [
    make("signs"),
    instant(isOn(options, "capturable") ? choice : elements),
    instant(choice),
    { kind: "last", name: "sign", of: bytesOf },
    drop("signs"),
    make("grad_signs"),
  ],
  ASGD: (options) => [
    ...gradients({ maximize: options.maximize ?? false }),
    ...when(!(isOn(options, "maximize") && decays(options)), make("sum"), drop("sum")),
    make("difference"),
    drop("difference"),
  ],
  Adafactor: (options, { shape }) => [
    ...gradients({ maximize: options.maximize ?? false }),
    ...(shape.length > 1
      ? [make("means", rowsOf), drop("means"), make("means", columnsOf), drop("means")]
      : [make("squared"), drop("squared")]),
    make("estimates"),
    ...when(shape.length > 1, make("means", matricesOf), drop("means")),
    rename("estimates", "updates"),
  ],
} satisfies Readonly<Record<string, StepBody>>;

/** Highest bytes of the temporaries over all units, each a list of parameters that are stepped together. */
export function highestTemporaries(
  body: StepBody,
  options: Options,
  units: readonly (readonly TrainedTensor[])[],
  isRounded: boolean,
): number {
  const live = new Map<string, number>();
  let highest = 0;
  const note = (more: number): void => {
    const held = [...live.values()].reduce((sum, bytes) => sum + bytes, more);
    highest = Math.max(highest, held);
  };
  for (const unit of units) {
    const [sample] = unit;
    if (sample === undefined) continue;
    const sizes = (of: SizeOf): number[] =>
      unit.map((tensor) => (isRounded ? roundedUp(of(tensor)) : of(tensor)));
    for (const move of body(options, sample)) {
      switch (move.kind) {
        case "make": {
          const bytes = sizes(move.of).reduce((sum, size) => sum + size, 0);
          note(bytes);
          live.set(move.name, bytes);
          break;
        }
        case "drop":
          live.delete(move.name);
          break;
        case "rename":
          live.set(move.to, live.get(move.name) ?? 0);
          live.delete(move.name);
          break;
        case "instant":
          note(sizes(move.of).reduce((most, size) => Math.max(most, size), 0));
          break;
        case "last":
          live.set(move.name, sizes(move.of).at(-1) ?? 0);
      }
    }
  }
  return highest;
}
