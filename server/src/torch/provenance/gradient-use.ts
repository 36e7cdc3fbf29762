/** Whether code wants gradients: calls backward or autograd, reads `.grad`, makes something require gradients. */
import { lastName } from "../../python/last-name";
import type { Call, FunctionDefinition, Node, Statement } from "../../python/tree";
import { someNode } from "../../python/walk";
import type { ImportedClass, ImportedFunction } from "../imported";
import { methodOfImported } from "../resolve-imported";
import type { Resolver } from "../resolve";
import { lastPart } from "../resolve-index";
import { takesGradients } from "./differentiating-libraries";
import { hasFlag, isSwitchedOff } from "./input-gradients";
import type { Reach } from "./reach";

export interface GradientUse {
  /** True when the statements, or functions they lead to in this or another file, want gradients. */
  in(statements: readonly Statement[]): boolean;
  /** The same for a function of this file. */
  inFunction(target: FunctionDefinition): boolean;
  /**
   * True when a loop or a function, or a function it leads to, takes derivatives whatever else it does (`torch.autograd.grad`,
   * an input made to require gradients): without gradients it would stop.
   */
  differentiatesIn(body: Node): boolean;
}

const gradientUser =
  /attack|adversar|perturb|fgsm|pgd|salien|grad_?cam|explain|attribut|backward|optimi[sz]|adapt|fine_?tun|(^|_)train|(^|_)fit$|lbfgs|minimi[sz]e|integrated_grad|influence|hessian|jacobian|^step$|_step$/i;

const derivatives =
  /^torch\.(autograd\.(grad|functional\.\w+)|func\.(grad|grad_and_value|jac\w+|hessian|vjp|jvp))$/;

/** Of diffusion models and of reinforcement learning. */
const otherStepper = /sched(uler)?$|(^|_)envs?$/i;

export function createGradientUse(resolver: Resolver, reach: Reach): GradientUse {
  const known = new Map<FunctionDefinition, boolean>();
  const differentiating = new Map<Node, boolean>();

  function differentiatesIn(body: Node): boolean {
    let does = differentiating.get(body);
    if (does === undefined) {
      differentiating.set(body, false); // functions that call each other add nothing
      does = [body, ...reach.functionsFrom([body])].some((one) => someNode(one, isDerivative));
      differentiating.set(body, does);
    }
    return does;
  }

  function isDerivative(node: Node): boolean {
    if (node.kind === "Attribute") return isStoreOfRequiresGrad(node);
    if (node.kind !== "Call") return false;
    if (isRequest(node)) return true;
    const qualified = resolver.qualifiedName(node.callee);
    if (qualified !== undefined) return derivatives.test(qualified);
    const called = calledElsewhere(node);
    return called?.file.torch.provenance.gradientUse.differentiatesIn(called.definition) ?? false;
  }

  function inFunction(target: FunctionDefinition): boolean {
    let uses = known.get(target);
    if (uses === undefined) {
      known.set(target, false); // functions that call each other add nothing
      uses = [target, ...reach.functionsFrom([target])].some((one) => mentionsGradients(one, isModeSwitch));
      known.set(target, uses);
    }
    return uses;
  }

  function mentionsGradients(node: Node, isHarmless: (call: Call) => boolean = () => false): boolean {
    return someNode(node, (at) => {
      if (at.kind === "Call") return isGradientCall(at) && !isHarmless(at);
      return at.kind === "Attribute" && (at.attribute.id === "grad" || isStoreOfRequiresGrad(at));
    });
  }

  /** `model.train(was)` at the end of an evaluation. */
  function isModeSwitch({ callee }: Call): boolean {
    return (
      callee.kind === "Attribute" &&
      callee.attribute.id === "train" &&
      resolver.roleOf(callee.object) === "model"
    );
  }

  function isGradientCall(call: Call): boolean {
    const name = lastPart(call.callee);
    if (name === undefined) return false;
    if (name === "backward" || name === "enable_grad" || name === "manual_backward") return true;
    if (name === "requires_grad_") return isRequest(call);
    if (isRequest(call)) return true;
    const qualified = resolver.qualifiedName(call.callee);
    if (qualified?.startsWith("torch.autograd.")) return !/Variable$/.test(qualified);
    if (qualified?.startsWith("builtins.")) return false;
    if (takesGradients(call, resolver)) return true;
    if (resolver.functionOf(call) || stepsSomethingElse(call)) return false;
    return usedElsewhere(call) ?? gradientUser.test(name);
  }

  /** What the function of another file that a call runs does; `undefined` when it is not known. */
  function usedElsewhere(call: Call): boolean | undefined {
    const called = calledElsewhere(call);
    return called?.file.torch.provenance.gradientUse.inFunction(called.definition);
  }

  function calledElsewhere(call: Call): ImportedFunction | undefined {
    const { imported } = resolver;
    return imported.functionOf(call) ?? runOfInstance(imported.classOf(call.callee));
  }

  return {
    in: (statements) =>
      [...statements, ...reach.functionsFrom(statements)].some((node) => mentionsGradients(node)),
    inFunction,
    differentiatesIn,
  };
}

/** What a call of an instance runs. */
function runOfInstance(owner: ImportedClass | undefined): ImportedFunction | undefined {
  return methodOfImported(owner, "forward") ?? methodOfImported(owner, "__call__");
}

/** `x.requires_grad_()`, `torch.rand(n, 1, requires_grad=True)`. */
function isRequest(call: Call): boolean {
  const { callee } = call;
  if (callee.kind === "Attribute" && callee.attribute.id === "requires_grad_") return !isSwitchedOff(call);
  return hasFlag(call);
}

/**
 * `x = scheduler.step(noise, t, x).prev_sample` of a sampler of diffusion models, `state, reward = env.step(action)`: what is
 * given and taken are values. An optimizer is given a closure at most.
 */
function stepsSomethingElse({ callee, positional, keywords, parent }: Call): boolean {
  if (callee.kind !== "Attribute" || callee.attribute.id !== "step") return false;
  const isUsed = parent !== undefined && parent.kind !== "ExpressionStatement";
  return (
    isUsed && positional.length + keywords.length > 0 && otherStepper.test(lastName(callee.object) ?? "")
  );
}

/** `x.requires_grad = True`. */
function isStoreOfRequiresGrad(attribute: Extract<Node, { kind: "Attribute" }>): boolean {
  if (attribute.attribute.id !== "requires_grad" || attribute.parent?.kind !== "Assign") return false;
  const { value, targets } = attribute.parent;
  return targets.includes(attribute) && !(value.kind === "Boolean" && !value.value);
}
