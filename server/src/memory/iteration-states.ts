/** Optimizers of a script's own iteration: their states together, and what each step takes. Bytes. */
import type { StepMeasure } from "./evaluate/step";
import type { OptimizerStep } from "./evaluate/training/trace";
import { optimizerNeeds, type OptimizerNeeds } from "./optimizers";
import type { OptimizerSetting, TrainingSetup } from "./setup";
import type { SteppedBytes } from "./simulate";
import type { Tensor } from "./tensor";

type Steps = NonNullable<StepMeasure["steps"]>;

/** What the header or a control says of the optimizer counts for all of them. */
function chosen({ optimizer }: TrainingSetup): OptimizerSetting | undefined {
  return optimizer === undefined || optimizer.from === "script" ? undefined : optimizer.value;
}

/**
 * The states of all optimizers that stepped. Undefined where none did, or where the table does not have one of them. The
 * temporaries are not in it: each step has its own.
 */
export function needsOfSteps(
  { steps, ownState }: Pick<StepMeasure, "steps" | "ownState">,
  setup: TrainingSetup,
): OptimizerNeeds | undefined {
  const found: OptimizerNeeds[] = [];
  for (const { setting, tensors } of stepped(steps ?? [])) {
    const needs = optimizerNeeds(chosen(setup) ?? setting, [...tensors]);
    if (needs === undefined) return undefined;
    found.push(needs);
  }
  const [first] = found;
  const names = new Set([
    ...found.map(({ name }) => name),
    ...(ownState === undefined ? [] : [ownState.name]),
  ]);
  if (names.size === 0) return undefined;
  const sum = (of: (needs: OptimizerNeeds) => number): number =>
    found.reduce((total, needs) => total + of(needs), 0);
  return {
    name: [...names].join(" + "),
    kernel: first?.kernel ?? "single",
    isKernelAsked: first?.isKernelAsked ?? false,
    state: sum(({ state }) => state),
    stateAllocated: sum(({ stateAllocated }) => stateAllocated),
    temporary: 0,
    temporaryAllocated: 0,
    pageable: found.some(({ pageable }) => pageable),
  };
}

/** Every optimizer's groups, each with all parameters that any of its steps changed. */
function stepped(steps: Steps): { readonly setting: OptimizerSetting; readonly tensors: Set<Tensor> }[] {
  const found = new Map<
    OptimizerStep["optimizer"],
    Map<string, { setting: OptimizerSetting; tensors: Set<Tensor> }>
  >();
  for (const { optimizer, groups } of steps) {
    const own =
      found.get(optimizer) ?? new Map<string, { setting: OptimizerSetting; tensors: Set<Tensor> }>();
    found.set(optimizer, own);
    for (const { setting, tensors } of groups) {
      const key = JSON.stringify(setting);
      const group = own.get(key) ?? { setting, tensors: new Set<Tensor>() };
      own.set(key, group);
      for (const tensor of tensors) group.tensors.add(tensor);
    }
  }
  return [...found.values()].flatMap((groups) => [...groups.values()]);
}

/** Each step with its temporaries: groups are stepped one after the other. */
export function steppedBytes(steps: Steps, setup: TrainingSetup): SteppedBytes[] {
  return steps.map(({ live, allocated, location, groups }) => {
    const needs = groups.map(({ setting, tensors }) => optimizerNeeds(chosen(setup) ?? setting, tensors));
    const most = (of: (one: OptimizerNeeds) => number): number =>
      needs.reduce((highest, one) => Math.max(highest, one === undefined ? 0 : of(one)), 0);
    return {
      live,
      allocated,
      location,
      temporary: most(({ temporary }) => temporary),
      temporaryAllocated: most(({ temporaryAllocated }) => temporaryAllocated),
    };
  });
}
