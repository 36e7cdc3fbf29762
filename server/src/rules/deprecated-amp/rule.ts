/**
 * `torch.cuda.amp.autocast(…)` and `torch.cuda.amp.GradScaler(…)`, which warn since PyTorch 2.4
 * (torch/cuda/amp/autocast_mode.py, grad_scaler.py: `@deprecated`). The replacements take the device first.
 */
import type { Binding } from "../../python/scope";
import type { Attribute, Call, Expression, ImportFrom, Name, Node } from "../../python/tree";
import { ancestors, walk } from "../../python/walk";
import { autocastContexts } from "../../torch/api";
import { insertFirstArgument, isBare, quoted } from "../call-text";
import { insertAt, replaceSpan } from "../fix";
import { defineRule, type RuleContext, type TextEdit } from "../rule";

type MessageId = keyof typeof messages;

const messages = {
  deprecated: {
    en: "`{name}` is deprecated and warns since PyTorch 2.4. Write `torch.amp.{kind}({device}, …)`: the same, with the device as the first argument.",
    "zh-cn":
      "`{name}` 已弃用，自 PyTorch 2.4 起会发出警告。请改写为 `torch.amp.{kind}({device}, …)`：作用相同，第一个参数是设备。",
  },
  replace: {
    en: "Use `torch.amp.{kind}({device})` (PyTorch 2.3 or later)",
    "zh-cn": "改用 `torch.amp.{kind}({device})`（PyTorch 2.3 及以上）",
  },
  replaceImport: {
    en: "Import from `torch.amp`, and change all calls (PyTorch 2.3 or later)",
    "zh-cn": "改为从 `torch.amp` 导入，并修改全部调用（PyTorch 2.3 及以上）",
  },
};

const deprecatedName = /^torch\.(cuda|cpu)\.amp\.(autocast|GradScaler)$/;

/** Parameters of the old `autocast`, in order; the new one has them by the same names, behind the device, in another order. */
const autocastParameters = ["enabled", "dtype", "cache_enabled"];

export const rule = defineRule<MessageId>({
  name: "deprecated-amp",
  group: "precision",
  level: "hint",
  summary: {
    en: "`torch.cuda.amp.autocast` and `GradScaler` are deprecated for `torch.amp`.",
    "zh-cn": "`torch.cuda.amp.autocast` 与 `GradScaler` 已弃用，由 `torch.amp` 取代。",
  },
  messages,
  calls: ["autocast", "GradScaler"],
  create: (context) => ({
    Call(call) {
      const { callee } = call;
      if (callee.kind !== "Attribute" && callee.kind !== "Name") return;
      const qualified = context.torch.resolve.qualifiedName(callee);
      const match = qualified === undefined ? null : deprecatedName.exec(qualified);
      const root = match === null ? undefined : onlyImport(context, callee);
      if (match === null || root === undefined || isChosenByVersion(call, root)) return;
      const [, device = "cuda", kind = ""] = match;
      const argument = quoted(context.source, device);
      const edits = fix(context, call, root);
      const title = root.importPath === "torch" ? "replace" : "replaceImport";
      context.report({
        at: callee,
        message: "deprecated",
        values: { name: `torch.${device}.amp.${kind}`, kind, device: argument },
        fixes: edits ? [{ title, values: { kind, device: argument }, safety: "safe", edits }] : [],
      });
    },
  }),
});

/** The import that the callee's first name comes from; `undefined` when there are several ways to it. */
function onlyImport({ scopes }: RuleContext, callee: Name | Attribute): Binding | undefined {
  const bindings = scopes.lookup(rootOf(callee));
  const [binding] = bindings;
  const path = binding?.importPath;
  // `import torch` and `import torch.utils.data` bind one name to one module.
  const isOne = path !== undefined && bindings.every(({ importPath }) => importPath === path);
  return isOne && (bindings.length === 1 || path === "torch") ? binding : undefined;
}

function rootOf(callee: Expression): Name {
  let at = callee;
  while (at.kind === "Attribute") at = at.object;
  return at as Name;
}

/** `try: from torch.amp import …`, `if version < …`: the script knows both names and chooses. */
function isChosenByVersion(call: Call, root: Binding): boolean {
  return (
    [...ancestors(root.node)].some(({ kind }) => kind === "Try" || kind === "If") ||
    [...ancestors(call)].some(
      (node) =>
        (node.kind === "Try" && node.handlers.some(({ type }) => catchesMissingName(type))) ||
        ((node.kind === "If" || node.kind === "Conditional") && asksForVersion(node.test)),
    )
  );
}

function catchesMissingName(type: Expression | undefined): boolean {
  if (type === undefined) return true;
  const names = type.kind === "Tuple" ? type.elements : [type];
  return names.some(
    (name) => name.kind === "Name" && /^(Attribute|Import|Type|ModuleNotFound)Error$/.test(name.id),
  );
}

function asksForVersion(test: Expression): boolean {
  let found = false;
  walk(test, {
    enter(node) {
      const name = node.kind === "Name" ? node.id : node.kind === "Attribute" ? node.attribute.id : "";
      if (/version|torch_?\d|greater_equal|at_least|hasattr|new_amp|legacy/i.test(name)) found = true;
      return !found;
    },
  });
  return found;
}

/**
 * The edits that make the call the new one. Where the old name is imported by itself the import changes too, and with
 * it every other call of what it brings in: such calls share one set of edits.
 */
function fix(context: RuleContext, call: Call, root: Binding): TextEdit[] | undefined {
  // These change what `torch.amp.autocast` without a dtype computes in, where the old one keeps float16.
  const { callsByName } = context.torch.resolve.index;
  if (callsByName.has("set_autocast_gpu_dtype") || callsByName.has("set_autocast_dtype")) return undefined;
  if (isComparedByClass(context)) return undefined;
  if (root.importPath === "torch") return directEdits(context, call);
  return importEdits(context, root);
}

/** `isinstance(scaler, torch.cuda.amp.GradScaler)`: the new class is not the old one, but its base. */
function isComparedByClass({ torch: { resolve } }: RuleContext): boolean {
  const compares = resolve.index.callsByName.get("isinstance") ?? [];
  return compares.some((call) =>
    call.positional.some((argument) => {
      const classes = argument.kind === "Tuple" ? argument.elements : [argument];
      return classes.some((one) => deprecatedName.test(resolve.qualifiedName(one) ?? ""));
    }),
  );
}

/** `torch.cuda.amp.autocast()` becomes `torch.amp.autocast("cuda")`. */
function directEdits(context: RuleContext, call: Call): TextEdit[] | undefined {
  const { callee } = call;
  if (callee.kind !== "Attribute") return undefined;
  const rewritten = argumentEdits(context, call);
  return rewritten && [replaceSpan(callee, `${rootOf(callee).id}.amp.${callee.attribute.id}`), ...rewritten];
}

function importEdits(context: RuleContext, root: Binding): TextEdit[] | undefined {
  const importing = importEdit(context, root);
  if (importing === undefined) return undefined;
  const edits = [importing];
  for (const binding of broughtInWith(root)) {
    for (const name of context.scopes.referencesTo(binding.scope, binding.name)) {
      const call = callOf(name, binding);
      const qualified = call && context.torch.resolve.qualifiedName(call.callee);
      const rewritten =
        call && qualified !== undefined && deprecatedName.test(qualified)
          ? argumentEdits(context, call)
          : undefined;
      if (rewritten === undefined) return undefined;
      edits.push(...rewritten);
    }
  }
  return edits;
}

/** The call whose callee a reference to an imported name is: `autocast()`, `amp.autocast()`. */
function callOf(name: Name, binding: Binding): Call | undefined {
  let callee: Node = name;
  if (binding.importPath?.endsWith(".amp")) {
    if (name.parent?.kind !== "Attribute") return undefined;
    callee = name.parent;
  }
  const { parent } = callee;
  return parent?.kind === "Call" && parent.callee === callee ? parent : undefined;
}

/** All names that the statement imports. */
function broughtInWith(root: Binding): Binding[] {
  return [...root.scope.bindings.values()].flatMap((bindings) =>
    bindings.filter(({ node }) => node === root.node),
  );
}

/** The change of an import whose names all exist in `torch.amp` under the same names. */
function importEdit({ source }: RuleContext, { node }: Binding): TextEdit | undefined {
  if (node.kind === "Import") {
    const [only, other] = node.names;
    if (other !== undefined || only?.alias === undefined || only.name !== "torch.cuda.amp") return undefined;
    return replaceModule(source.slice(node), node.start, "torch.cuda.amp", "torch.amp");
  }
  if (node.kind !== "ImportFrom" || node.level > 0) return undefined;
  const allow = namesThatMove(node);
  if (allow === undefined || !node.names.every(({ name }) => allow.includes(name))) return undefined;
  return replaceModule(
    source.slice(node),
    node.start,
    node.module,
    node.module === "torch.cuda" ? "torch" : "torch.amp",
  );
}

function namesThatMove({ module }: ImportFrom): readonly string[] | undefined {
  if (module === "torch.cuda" || module === "torch.cpu") return module === "torch.cuda" ? ["amp"] : undefined;
  return /^torch\.cuda\.amp(\.(autocast_mode|grad_scaler))?$/.test(module)
    ? ["autocast", "GradScaler"]
    : undefined;
}

function replaceModule(text: string, offset: number, from: string, to: string): TextEdit | undefined {
  const index = text.indexOf(from);
  if (index < 0) return undefined;
  return replaceSpan({ start: offset + index, end: offset + index + from.length }, to);
}

/** `(True)` becomes `("cuda", enabled=True)`. */
function argumentEdits(context: RuleContext, call: Call): TextEdit[] | undefined {
  const qualified = context.torch.resolve.qualifiedName(call.callee) ?? "";
  const match = deprecatedName.exec(qualified);
  if (match === null || isInsideAutocast(context, call)) return undefined;
  const { source } = context;
  const device = insertFirstArgument(source, call, quoted(source, match[1] ?? "cuda"));
  if (device === undefined || call.positional.some(({ kind }) => kind === "Starred")) return undefined;
  const edits = [device];
  if (match[2] !== "autocast") return edits;
  for (const [index, argument] of call.positional.entries()) {
    const parameter = autocastParameters[index];
    if (parameter === undefined || !isBare(source, call, argument)) return undefined;
    // Behind the device where both are inserted at one place.
    edits.push(insertAt(argument.start, `${parameter}=`));
  }
  return edits;
}

/** Without a dtype the new `autocast` keeps the one of the region around it, the old one goes back to float16. */
function isInsideAutocast({ torch }: RuleContext, call: Call): boolean {
  for (const node of ancestors(call)) {
    if (node.kind === "FunctionDefinition" || node.kind === "Lambda") return false;
    if (node.kind !== "With") continue;
    for (const { context: entered } of node.items) {
      if (entered === call || entered.kind !== "Call") continue;
      if (autocastContexts.has(torch.resolve.qualifiedName(entered.callee) ?? "")) return true;
    }
  }
  return false;
}
