/** Facts about a piece of Python for tests, with its expressions found by their text. */
import { parseModule } from "../../server/src/python/parse";
import { buildScopes } from "../../server/src/python/scope";
import type { Source } from "../../server/src/python/source";
import type { Call, Expression, FunctionDefinition, Node } from "../../server/src/python/tree";
import { isStatement, walk } from "../../server/src/python/walk";
import { isKnownExport } from "../../server/src/torch/api-exports";
import { torchFacts, type TorchFacts } from "../../server/src/torch/facts";

export interface Examined {
  readonly source: Source;
  readonly torch: TorchFacts;
  /** The expression with exactly this text; of several the one counted from 0 (default) in source order. */
  readonly expression: (text: string, occurrence?: number) => Expression;
  readonly call: (text: string, occurrence?: number) => Call;
  function(name: string): FunctionDefinition;
}

/** Parses a text (the parser must be loaded) and gives its facts. */
export function examine(text: string): Examined {
  const parsed = parseModule(text);
  const { source, module } = parsed;
  const torch = torchFacts(module, buildScopes(module, { isKnownExport }));

  function all(accept: (node: Node) => boolean): Node[] {
    const found: Node[] = [];
    walk(module, {
      enter(node) {
        if (accept(node)) found.push(node);
        return undefined;
      },
    });
    return found.sort((a, b) => a.start - b.start);
  }

  function expression(wanted: string, occurrence = 0): Expression {
    const found = all(
      (node) => !isStatement(node) && node.kind !== "Module" && source.slice(node) === wanted,
    );
    const node = found[occurrence];
    if (node === undefined) throw new Error(`no expression ${wanted} (${occurrence})`);
    return node as Expression;
  }

  return {
    source,
    torch,
    expression,
    call(wanted, occurrence) {
      const node = expression(wanted, occurrence);
      if (node.kind !== "Call") throw new Error(`${wanted} is no call`);
      return node;
    },
    function(name) {
      const [node] = all((one) => one.kind === "FunctionDefinition" && one.name.id === name);
      if (node?.kind !== "FunctionDefinition") throw new Error(`no function ${name}`);
      return node;
    },
  };
}
